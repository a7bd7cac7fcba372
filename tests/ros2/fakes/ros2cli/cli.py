# SPDX-License-Identifier: Apache-2.0
"""`ros2`: a subparser for each entry point of ros2cli.command."""
import argparse
import importlib.metadata


def main(*, script_name='ros2', argv=None):
    parser = argparse.ArgumentParser(prog=script_name)
    commands = parser.add_subparsers(dest='command')
    for point in importlib.metadata.entry_points(group='ros2cli.command'):
        extension = point.load()()
        subparser = commands.add_parser(point.name, description=extension.__doc__,
                                       formatter_class=argparse.RawDescriptionHelpFormatter)
        subparser.set_defaults(extension=extension)
        extension.add_arguments(subparser, f'{script_name} {point.name}', argv=argv)
    try:
        from argcomplete import autocomplete
        autocomplete(parser, exclude=['-h', '--help'])
    except ImportError:
        pass
    args = parser.parse_args(args=argv)
    try:
        return args.extension.main(parser=parser, args=args)
    except RuntimeError as error:
        return str(error)
