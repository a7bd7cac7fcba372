# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

NAME = 'kymo_ros2'

setup(
    name=NAME,
    version='0.1.0',
    packages=find_packages(),
    data_files=[
        ('share/' + NAME, ['package.xml']),
        ('share/ament_index/resource_index/packages', ['resource/' + NAME]),
    ],
    install_requires=['setuptools'],
    zip_safe=True,
    maintainer='kymo maintainers',
    maintainer_email='maintainers@kymo.example',
    description='kymo in launch files (Python, XML, YAML), as "ros2 kymo", and on /diagnostics and /statistics.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': [f'bridge = {NAME}.bridge:main'],
        'launch.frontend.launch_extension': [f'{NAME} = {NAME}.frontend'],
        'ros2cli.command': [f'kymo = {NAME}.command.kymo:KymoCommand'],
    },
)
