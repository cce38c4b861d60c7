# schemas_check.py - JSON of the program against its schemas; prints "ok" and "not ok" lines.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: schemas_check.py SCHEMA-FOLDER LIST, each line of LIST a schema's name, a tab and a file: JSON,
# JSON Lines (.jsonl) or a page with data (.html).
#
# Schemas that users get are open, so that a key that a later program adds is no error to them.  Here
# they are closed: an object has no other key than its schema.
import copy
import json
import os
import re
import sys

from jsonschema import Draft202012Validator

MOST_ROWS = 300  # of a list in an output


def verdict(name, problems):
    print(f"{'not ok' if problems else 'ok'} {name}")
    for problem in problems[:10]:
        print(f"  {problem}")


def closed(schema):
    """A copy in which every object with properties has no others."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    copied = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        copied.setdefault("additionalProperties", False)
    return copied


def objects_of(schema, where=""):
    """Every subschema of an object, with its place."""
    if isinstance(schema, list):
        for number, one in enumerate(schema):
            yield from objects_of(one, f"{where}/{number}")
    elif isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            yield where, schema
        for key, value in schema.items():
            yield from objects_of(value, f"{where}/{key}")


def own_problems(name, schema):
    """What is wrong with a schema itself."""
    problems = []
    base, version = re.fullmatch(r"(.*)-([0-9]+)\.json", name).groups()
    if schema.get("$id") != f"urn:hopcast:{base}:{version}":
        problems.append(f"$id is {schema.get('$id')}")
    stated = schema.get("properties", {}).get("schema")
    if stated is not None and stated.get("const") != f"hopcast.{base}/{version}":
        problems.append(f"the key schema is {stated}")
    for where, part in objects_of(schema):
        problems += [f"{where}: {key} has no description" for key, value in part["properties"].items()
                     if not value.get("description")]
        problems += [f"{where}: {key} is required and no property" for key in part.get("required", [])
                     if key not in part["properties"]]
    try:
        Draft202012Validator.check_schema(schema)
    except Exception as problem:
        problems.append(problem)
    return problems


def documents(path):
    with open(path, encoding="utf-8") as source:
        text = source.read()
    if path.endswith(".jsonl"):
        return [[json.loads(line) for line in text.splitlines()]]
    if path.endswith(".html"):
        text = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1]
    return [json.loads(text, parse_constant=refuse)]


def refuse(word):
    raise ValueError(f"{word} is no JSON")


def shortened(value):
    """Without the later rows of long lists, which are like the first and last ones."""
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items()}
    if isinstance(value, list):
        few = value if len(value) <= MOST_ROWS else value[: MOST_ROWS // 2] + value[-MOST_ROWS // 2 :]
        return [shortened(one) for one in few]
    return value


class Keys:
    """Which properties of a schema outputs have."""

    def __init__(self, schema):
        self.schema, self.seen = schema, set()

    def visit(self, value, part):
        if "$ref" in part:
            part = self.schema["$defs"][part["$ref"].rsplit("/", 1)[1]]
        for one in part.get("oneOf", []):
            if Draft202012Validator({**one, "$defs": self.schema.get("$defs", {})}).is_valid(value):
                self.visit(value, one)
        if isinstance(value, list) and "items" in part:
            for one in value:
                self.visit(one, part["items"])
        elif isinstance(value, dict):
            for key, one in value.items():
                if key in part.get("properties", {}):
                    self.seen.add((id(part), key))
                    self.visit(one, part["properties"][key])
                elif isinstance(part.get("additionalProperties"), dict):
                    self.visit(one, part["additionalProperties"])

    def unseen(self):
        return [f"{where}: {key} is in no output" for where, part in objects_of(self.schema)
                for key, value in part["properties"].items()
                if (id(part), key) not in self.seen and not value.get("$comment", "").startswith("rare")]


def with_one_more(value):
    """Copies of an output, each with one more key in one of its objects: the first of its kind."""
    places = {}

    def walk(part, path, kind):
        if isinstance(part, dict):
            places.setdefault(kind, path)
        for key, one in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else []:
            walk(one, path + [key], kind + ((key,) if isinstance(part, dict) else ("[]",)))

    walk(value, [], ())
    for path in places.values():
        whole = copy.deepcopy(value)
        part = whole
        for key in path:
            part = part[key]
        part["a key of tomorrow"] = [0]
        yield "/".join(map(str, path)) or "the top", whole


def main():
    folder, listed = sys.argv[1:]
    schemas, keys, first = {}, {}, {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as source:
            schema = json.load(source)
        schemas[name] = schema
        verdict(f"{name} is a schema", own_problems(name, schema))
        keys[name] = Keys(schema)
    with open(listed, encoding="utf-8") as source:
        outputs = [line.rstrip("\n").split("\t") for line in source]
    for base, path in outputs:
        names = [name for name in schemas if re.fullmatch(re.escape(base) + r"-[0-9]+\.json", name)]
        try:
            values = [shortened(value) for value in documents(path)]
        except (OSError, ValueError, TypeError) as problem:
            verdict(f"{path}: {base}", [problem])
            continue
        problems = [] if names else ["it has no schema"]
        for name in names[-1:]:
            validator = Draft202012Validator(closed(schemas[name]))
            for value in values:
                for error in validator.iter_errors(value):
                    problems.append(f"{error.json_path}: {error.message[:300]}")
                keys[name].visit(value, schemas[name])
                first.setdefault(name, value)
        verdict(f"{path}: {base}", problems)
    # The comparison sees what it is for: a key more is an error here, and none to users.
    for name, value in first.items():
        mine, theirs = Draft202012Validator(closed(schemas[name])), Draft202012Validator(schemas[name])
        problems = []
        for where, changed in with_one_more(value):
            if mine.is_valid(changed):
                problems.append(f"one more key in {where} is not seen")
        if not theirs.is_valid({**value, "a key of tomorrow": 0} if isinstance(value, dict)
                               else [{**row, "a key of tomorrow": 0} for row in value]):
            problems.append("one more key is an error to users")
        verdict(f"{name} knows its keys", problems)
    for name, visited in keys.items():
        verdict(f"{name} has no key too many", visited.unseen() if name in first else ["no output has this schema"])


main()
