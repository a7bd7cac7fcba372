# SPDX-License-Identifier: Apache-2.0
import os

from setuptools import setup
from setuptools.command.install_lib import install_lib

NAME = 'kymo_py'


class InstallLib(install_lib):
    """Puts kymo.pth beside the module: it loads the hook for rclpy where KYMO_RCLPY asks."""

    def run(self):
        super().run()
        self.copy_file('kymo.pth', os.path.join(self.install_dir, 'kymo.pth'))

    def get_outputs(self):
        return [*super().get_outputs(), os.path.join(self.install_dir, 'kymo.pth')]


setup(
    name=NAME,
    version='0.1.0',
    packages=['kymo'],
    data_files=[
        ('share/' + NAME, ['package.xml']),
        ('share/ament_index/resource_index/packages', ['resource/' + NAME]),
    ],
    cmdclass={'install_lib': InstallLib},
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
