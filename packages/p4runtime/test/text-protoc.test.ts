import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { toBinary } from '@bufbuild/protobuf';
import { formatText, p4config, p4infoOf, parseText } from '@int/p4runtime';
import { loadProgram } from '@int/p4vm/node';
import { describe, expect, it } from 'vitest';
import { requires } from '../../../.ci/test/requires.js';

const proto = fileURLToPath(new URL('../proto', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));
const schema = p4config.P4InfoSchema;

/** The reference's reader and writer of texts. */
function protoc(mode: 'encode' | 'decode', input: string | Uint8Array): Buffer {
  const program = requires('protoc', 'npm run setup:system');
  const words = [`--${mode}=${schema.typeName}`, '-I', proto, 'p4/config/v1/p4info.proto'];
  const { status, stdout, stderr } = spawnSync(program, words, { input, cwd: proto, maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`protoc: ${stderr}`);
  return stdout;
}

describe('the text format, against protoc', () => {
  it.each(['int', 'intmon', 'gpint', 'dart', 'flowcache'])(
    'of the P4Info of %s.p4',
    (name) => {
      const info = p4infoOf(loadProgram(`${root}p4/${name}.p4`));
      const text = formatText(schema, info);
      // protoc writes the members of maps in an order of its own.
      expect(toBinary(schema, parseText(schema, protoc('decode', protoc('encode', text)).toString()))).toEqual(
        toBinary(schema, info),
      );
      expect(new Uint8Array(protoc('encode', text)).length).toBe(toBinary(schema, info).length);
      if (Object.keys(info.typeInfo?.structs ?? {}).length < 2) {
        expect(protoc('decode', toBinary(schema, info)).toString()).toBe(text);
      }
    },
    60_000,
  );

  it('of strings and numbers in all their forms', () => {
    const text = String.raw`# a comment
pkg_info { name: "a" 'b' "\x41\101\n\"\'\303\251" version: "\u00e9" }
tables: [ { size: 0x10 }, < size: 010; > ]
tables { size: -5, is_const_table: t idle_timeout_behavior: 1 }`;
    expect(toBinary(schema, parseText(schema, text))).toEqual(new Uint8Array(protoc('encode', text)));
    expect(formatText(schema, parseText(schema, text))).toBe(protoc('decode', protoc('encode', text)).toString());
  });
});
