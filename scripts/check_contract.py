#!/usr/bin/python3
"""Refuses a change of the wire contract that would break a client.

The contract, compiled, is written out as one line a fact: each rpc with its types and streaming,
each field with its number, label and type, each enum value with its number. The golden list is
checked in. A fact of it that is gone (removed, renumbered, retyped, renamed) breaks clients and is
an error; a new fact is none, but has to be added to the list: --update.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = pathlib.Path("proto/contract.golden")
FIELD = descriptor_pb2.FieldDescriptorProto


def compiled(proto_root):
    """The descriptors of all files under proto_root."""
    files = sorted(str(p.relative_to(proto_root)) for p in proto_root.glob("shoal/**/*.proto"))
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(
            ["protoc", f"-I{proto_root}", f"--descriptor_set_out={out.name}", *files], check=True)
        return descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes())


def type_name(field):
    if field.type_name:
        return field.type_name.lstrip(".")
    return FIELD.Type.Name(field.type).removeprefix("TYPE_").lower()


def enum_facts(scope, enum):
    for value in enum.value:
        yield f"enum {scope}{enum.name} {value.name} = {value.number}"


def message_facts(scope, message):
    name = scope + message.name
    for field in message.field:
        label = "repeated " if field.label == FIELD.LABEL_REPEATED else ""
        if field.proto3_optional:
            label = "optional "
        elif field.HasField("oneof_index"):
            label = f"oneof {message.oneof_decl[field.oneof_index].name} "
        yield f"field {name} {field.number} {label}{type_name(field)} {field.name}"
    for enum in message.enum_type:
        yield from enum_facts(name + ".", enum)
    for nested in message.nested_type:
        yield from message_facts(name + ".", nested)


def facts(descriptors):
    """Every fact of the contract that a client's compiled code relies on."""
    for file in descriptors.file:
        scope = file.package + "."
        for message in file.message_type:
            yield from message_facts(scope, message)
        for enum in file.enum_type:
            yield from enum_facts(scope, enum)
        for service in file.service:
            for method in service.method:
                up = "stream " if method.client_streaming else ""
                down = "stream " if method.server_streaming else ""
                yield (f"rpc {scope}{service.name}/{method.name} ({up}{method.input_type[1:]})"
                       f" ({down}{method.output_type[1:]})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--update", action="store_true", help="add what is new to the list")
    arguments = parser.parse_args()
    golden_file = arguments.root / GOLDEN
    golden = golden_file.read_text().splitlines() if golden_file.exists() else []
    now = sorted(facts(compiled(arguments.root / "proto")))

    broken = [fact for fact in golden if fact not in set(now)]
    for fact in broken:
        print(f"{GOLDEN}: clients rely on this, and it is gone: {fact}")
    new = [fact for fact in now if fact not in set(golden)]
    if arguments.update and not broken:
        golden_file.write_text("\n".join(now) + "\n")
        print(f"{GOLDEN}: {len(new)} new lines")
        return 0
    for fact in new:
        print(f"{GOLDEN}: new, to be added with --update: {fact}")
    return 1 if broken or new else 0


if __name__ == "__main__":
    sys.exit(main())
