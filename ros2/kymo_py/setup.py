# SPDX-License-Identifier: Apache-2.0
import sysconfig

from setuptools import setup

NAME = 'kymo_py'

# Where the interpreter reads .pth files from, below the prefix: kymo.pth loads the hook for rclpy where KYMO_RCLPY asks.
SITE = sysconfig.get_path('purelib', vars={'base': '', 'platbase': ''}).lstrip('/')

setup(
    name=NAME,
    version='0.1.0',
    packages=['kymo'],
    data_files=[
        (SITE, ['kymo.pth']),
        ('share/' + NAME, ['package.xml']),
        ('share/ament_index/resource_index/packages', ['resource/' + NAME]),
    ],
    install_requires=['setuptools'],
    extras_require={'pandas': ['pandas'], 'polars': ['polars']},
    zip_safe=False,
    maintainer='kymo maintainers',
    maintainer_email='maintainers@kymo.example',
    description='Traces of kymo from Python: events, frames, recordings, tests; a hook for rclpy.',
    license='Apache-2.0',
    # By its module's name: then it is the same one for pytest -p kymo.pytest_plugin.
    entry_points={'pytest11': ['kymo.pytest_plugin = kymo.pytest_plugin']},
)
