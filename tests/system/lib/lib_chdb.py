# SPDX-License-Identifier: Apache-2.0
"""A current ClickHouse as a library from npm: `npm install chdb` in a folder, and KYMO_NODE_MODULES=FOLDER/node_modules."""
import json
import os
import subprocess

MODULES = os.environ.get("KYMO_NODE_MODULES", "")

PROGRAM = r"""
const { Session } = require('chdb');
const session = new Session(process.cwd() + "/session"), answers = [];
for (const sql of JSON.parse(require('fs').readFileSync(0)))
  answers.push(session.query(sql, 'JSONCompact'));
console.log(JSON.stringify(answers));
session.cleanup();
"""


def available():
    return os.path.isdir(os.path.join(MODULES, "chdb"))


def chdb(*statements, directory):
    """Return: the rows that each statement answers; None: it is no question. The directory has no config.xml, which would be read."""
    done = subprocess.run(["node", "-e", PROGRAM], input=json.dumps(statements), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, cwd=directory, env=dict(os.environ, NODE_PATH=MODULES))
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(answer)["data"] if answer else None for answer in json.loads(done.stdout)]
