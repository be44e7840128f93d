import { readFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { main } from '@int/cli';
import { P4RuntimeServer, P4vmTarget } from '@int/p4runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${folder}README.md`, 'utf8');
/** The sessions of a controller in the README: commands behind `P4> `, and what they print. */
const sessions = [...readme.matchAll(/^```text\n(P4> set_pipeline (\w+\.p4)\n[^`]*)^```$/gm)].map(
  ([, text = '', name = '']) => ({ name, text }),
);

let server: P4RuntimeServer;
let target: string;
beforeAll(async () => {
  server = new P4RuntimeServer({ devices: [{ deviceId: 1, target: new P4vmTarget() }] });
  const { host, port } = await server.listen({ port: 0 });
  target = `${host}:${port}`;
});
afterAll(() => server.close());

/** Runs commands, as one types them in the folder of the programs. */
async function control(commands: string): Promise<{ code: number; shown: string }> {
  const shown: Buffer[] = [];
  const stream = (): PassThrough => new PassThrough().on('data', (chunk: Buffer) => shown.push(chunk));
  const script = commands.replaceAll('set_pipeline ', `set_pipeline ${folder}`);
  const code = await main(['node', 'int', 'p4', 'control', '--target', target, '-'], {
    stdin: Readable.from([Buffer.from(script)]),
    stdout: stream(),
    stderr: stream(),
    env: {},
    signal: new AbortController().signal,
  });
  await new Promise(setImmediate);
  return { code, shown: Buffer.concat(shown).toString() };
}

describe('the README over P4Runtime', () => {
  it('has a session with each program', () => {
    const programs = ['int.p4', 'intmon.p4', 'gpint.p4', 'dart.p4', 'flowcache.p4'];
    expect(sessions.map(({ name }) => name)).toEqual(programs);
  });

  it.each(sessions)(
    'with $name',
    async ({ text }) => {
      const lines = text.split('\n').slice(0, -1);
      const commands = lines.filter((line) => line.startsWith('P4> ')).map((line) => line.slice(4));
      const printed = lines.filter((line) => !line.startsWith('P4> '));
      const { code, shown } = await control(`${commands.join('\n')}\n`);
      expect(shown.split('\n').slice(0, -1)).toEqual(printed);
      expect(code).toBe(0);
    },
    120_000,
  );
});
