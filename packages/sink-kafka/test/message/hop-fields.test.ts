/** What is published about hops says what the table of fields says. */
import { readFileSync } from 'node:fs';
import { FIELDS } from '@int/codec';
import { describe, expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('a hop', () => {
  it('has its fields by their numbers in the published message', () => {
    const message = /message Hop \{([^}]*)\}/.exec(read('proto/int.proto'))![1]!;
    const found = [...message.matchAll(/optional (\w+) (\w+) = (\d+);/g)].map(([, type, name, number]) => [
      type,
      name!.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      Number(number),
    ]);
    const wanted = FIELDS.map(({ name, bits, protobuf }) => [bits === 64 ? 'fixed64' : 'uint32', name, protobuf]);
    const names = [
      ['string', 'nodeName', 25],
      ['string', 'l1IngressName', 26],
      ['string', 'l1EgressName', 27],
    ];
    expect(found).toEqual([...wanted, ...names].sort((a, b) => (a[2] as number) - (b[2] as number)));
  });

  it('has its fields and their largest values in the published JSON schema', () => {
    const schema = JSON.parse(read('schema/int.schema.json')) as {
      $defs: { hop: { properties: Record<string, { type: string; maximum?: number }> } };
    };
    const { properties } = schema.$defs.hop;
    const found = Object.entries(properties).map(([name, { type, maximum }]) => [name, type, maximum]);
    // Names of switches and ports, beside their ids.
    const names = ['nodeName', 'l1IngressName', 'l1EgressName'].map((name) => [name, 'string', undefined]);
    const fields = FIELDS.map(({ name, bits, most }) =>
      bits === 64 ? [name, 'string', undefined] : [name, 'integer', most],
    );
    const wanted = [...fields, ...names];
    expect(new Map(found.map(([name, ...rest]) => [name, rest]))).toEqual(
      new Map(wanted.map(([name, ...rest]) => [name, rest])),
    );
  });
});
