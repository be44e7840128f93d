/** Types of programs as modules: those of `p4/`, and one whose names would like to be code. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { create } from '@bufbuild/protobuf';
import { p4config, p4infoOf } from '@int/p4runtime';
import { programTypes } from '@int/p4runtime/internals';
import { loadProgram } from '@int/p4vm/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'int-types-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** What the compiler says of modules. */
async function compiled(modules: Readonly<Record<string, string>>): Promise<string> {
  for (const [name, text] of Object.entries(modules)) await writeFile(join(folder, name), text);
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: { noEmit: true, skipLibCheck: true, composite: false, incremental: false },
    include: Object.keys(modules).map((name) => join(folder, name)),
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules')).catch(() => {});
  return new Promise((resolve) => {
    const tsc = join(ROOT, 'node_modules/typescript-7/bin/tsc');
    execFile(process.execPath, [tsc, '-p', folder], (_, stdout) => resolve(stdout));
  });
}

function typesOf(path: string, name: string): string {
  return programTypes(p4infoOf(loadProgram(join(ROOT, path))), name);
}

const CLIENT = `
import { match, P4RuntimeClient } from '@int/p4runtime';
import type { IntProgram } from './int.js';
import type { Hostile } from './hostile.js';

export async function program(client: P4RuntimeClient<IntProgram>): Promise<void> {
  const parameters = {
    rule: 1, algorithm: 1, metric: 0, scope: 0, threshold: 1000, weight: 0, one_in: 0, every: 0,
  };
  const options = { priority: 1 };
  await client.insert(
    client.entry('IntSink.algorithm_ipv4_a', { source_address: match.ternary('10.0.0.0/8') }, 'fast_detection', parameters, options),
    client.entry('algorithm_ipv4_a', { source_port: match.range(1, 5) }, 'IntSink.fast_detection', parameters, options),
    client.entry('algorithm_ipv6_b', {}, 'report_all', {}, options),
  );
  await client.modify({ kind: 'register', register: 'IntSink.bank', index: 0, value: 1 });
  // @ts-expect-error: no such field
  client.entry('IntSink.algorithm_ipv4_a', { source: match.ternary('10.0.0.0/8') }, 'fast_detection', parameters);
  // @ts-expect-error: a parameter is missing
  client.entry('IntSink.algorithm_ipv4_a', {}, 'fast_detection', { rule: 1 }, options);
  // @ts-expect-error: an action of another table
  client.entry('IntSink.algorithm_ipv4_a', {}, 'set_node', { id: 1 });
  // @ts-expect-error: no such register
  await client.modify({ kind: 'register', register: 'IntSink.banks', index: 0, value: 1 });
}

export const hostile = (client: P4RuntimeClient<Hostile>) => client.entries('*/ }; import("node:fs"); /*');
`;

describe('types of programs', () => {
  it('compile for all programs of p4/, and for names that would like to be code', async () => {
    const { DEFAULT_ONLY } = p4config.ActionRef_Scope;
    const evil = '*/ }; import("node:fs"); /*';
    const odd = ["it's", 'a\nline', '\u2028', '__proto__', '"', '\\', '', '$'];
    const info = create(p4config.P4InfoSchema, {
      tables: [evil, ...odd].map((name, i) => ({
        preamble: { id: 0x0200_0001 + i, name, alias: `${name}'`, doc: { brief: `*/ ${name}` } },
        matchFields: [
          { id: 1, name, bitwidth: 8, match: { case: 'matchType', value: p4config.MatchField_MatchType.EXACT } },
        ],
        actionRefs: [{ id: 0x0100_0001 }, { id: 0x0100_0002, scope: DEFAULT_ONLY }],
      })),
      actions: [evil, '\r'].map((name, i) => ({
        preamble: { id: 0x0100_0001 + i, name, alias: name },
        params: odd.map((param, at) => ({ id: at + 1, name: param, bitwidth: 8 })),
      })),
      registers: [
        {
          preamble: { id: 0x1600_0001, name: evil },
          typeSpec: { typeSpec: { case: 'struct', value: { name: evil } } },
        },
      ],
      typeInfo: {
        // A type within itself, many times.
        structs: {
          [evil]: { members: [{ name: evil, typeSpec: { typeSpec: { case: 'struct', value: { name: evil } } } }] },
        },
      },
    } as never);
    const hostile = programTypes(info, 'Hostile');
    expect(hostile.length).toBeLessThan(1_000_000);
    const said = await compiled({
      'int.ts': typesOf('p4/int.p4', 'IntProgram'),
      'dart.ts': typesOf('p4/dart.p4', 'DartProgram'),
      'flowcache.ts': typesOf('p4/flowcache.p4', 'FlowcacheProgram'),
      'intmon.ts': typesOf('p4/intmon.p4', 'IntmonProgram'),
      'gpint.ts': typesOf('p4/gpint.p4', 'GpintProgram'),
      'hostile.ts': hostile,
      'client.ts': CLIENT,
    });
    expect(said).toBe('');
    expect(hostile).not.toMatch(/\*\/ \}/);
  }, 120_000);

  it('find a mistake: the compiler is asked', async () => {
    expect(await compiled({ 'wrong.ts': 'export const wrong: string = 1;' })).toContain('TS2322');
  }, 120_000);

  it('have the name of a type', () => {
    const info = create(p4config.P4InfoSchema);
    for (const name of ['', 'a b', '1', 'a;b']) expect(() => programTypes(info, name)).toThrow(RangeError);
  });
});
