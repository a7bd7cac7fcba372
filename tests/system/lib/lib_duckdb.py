# SPDX-License-Identifier: Apache-2.0
"""DuckDB from npm, as an oracle: `npm install @duckdb/node-api` in a folder, and KYMO_NODE_MODULES=FOLDER/node_modules."""
import json
import os
import subprocess

MODULES = os.environ.get("KYMO_NODE_MODULES", "")

PROGRAM = r"""
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
  const instance = await DuckDBInstance.create(':memory:'), connection = await instance.connect(), answers = [];
  for (const sql of JSON.parse(require('fs').readFileSync(0)))
    answers.push((await connection.runAndReadAll(sql)).getRowsJson());
  console.log(JSON.stringify(answers));
})();
"""


def available():
    return os.path.isdir(os.path.join(MODULES, "@duckdb", "node-api"))


def duckdb(*statements, directory="."):
    """Return: the rows that each statement answers; numbers of 64 bits are texts."""
    done = subprocess.run(["node", "-e", PROGRAM], input=json.dumps(statements), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, cwd=directory, env=dict(os.environ, NODE_PATH=MODULES))
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
