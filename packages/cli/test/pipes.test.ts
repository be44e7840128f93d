import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { pcap, reportFrame } from './captures.js';
import { BIN, temporaryFolder } from './run.js';

const files = temporaryFolder();
const execute = promisify(execFile);

/** Runs `int ARGS | READER` in a shell; gives what the reader printed, what int said, and int's exit code. */
async function piped(args: readonly string[], reader: string): Promise<{ out: string; err: string; code: string }> {
  const code = files.path('code');
  const command = [process.execPath, BIN, ...args].map((word) => `'${word}'`).join(' ');
  const line = `{ ${command}; echo $? > '${code}'; } | ${reader}; cat '${code}'`;
  const { stdout, stderr } = await execute('sh', ['-c', line], { timeout: 50_000 });
  const lines = stdout.trimEnd().split('\n');
  return { code: lines.pop()!, out: lines.join('\n'), err: stderr };
}

describe('a reader that leaves early is no error', () => {
  test.each(['--json', '--raw', '--profile=spec'])('for int decode %s', async (option) => {
    const path = await files.write('many.pcap', pcap(new Array<Uint8Array>(20_000).fill(reportFrame())));
    const { out, err, code } = await piped(['decode', option, path], 'head -n 1');
    expect({ err, code }).toEqual({ err: '', code: '0' });
    expect(out.split('\n')).toHaveLength(1);
  });

  test('for int decode of damaged input', async () => {
    const path = await files.write(
      'damaged.pcap',
      pcap(new Array<Uint8Array>(20_000).fill(reportFrame())).subarray(0, -1),
    );
    expect(await piped(['decode', '--json', path], 'true')).toMatchObject({ err: '', code: '0' });
  });

  // Processes of the real command, one after the other.
  test('for int generate and int encode', async () => {
    const made = await piped(['generate', '--packets', '1000000000'], 'head -c 4 | wc -c');
    expect({ err: made.err, code: made.code }).toEqual({ err: '', code: '0' });
    const line = JSON.stringify({ frameHex: '00'.repeat(1000) });
    const json = await files.write('many.json', `${line}\n`.repeat(20_000));
    expect(await piped(['encode', json], 'head -c 4 | wc -c')).toMatchObject({ err: '', code: '0' });
  }, 180_000);

  // Processes of the real command, one after the other.
  test('for int detect, and for int collect with rules', async () => {
    const path = await files.write('events.pcap', pcap(new Array<Uint8Array>(20_000).fill(reportFrame())));
    const rules = await files.write('none.yaml', 'version: 1\nrules: []\n');
    for (const args of [
      ['detect', path, '--rules', rules],
      ['detect', path, '--rules', rules, '--json'],
      ['collect', '--pcap', path, '--rules', rules, '--json'],
    ]) {
      const { out, err, code } = await piped(args, 'head -n 1');
      expect({ err, code }).toEqual({ err: '', code: '0' });
      expect(out.split('\n')).toHaveLength(1);
    }
  }, 180_000);

  // Processes of the real command, one after the other.
  test('for int flows', async () => {
    const capture = files.path('flows.pcap');
    await piped(['generate', '--flows', '20000', '--packets', '20000', '-o', capture], 'cat');
    for (const option of ['--json', '--per-hop']) {
      const { out, err, code } = await piped(['flows', option, capture], 'head -n 1');
      expect({ err, code }).toEqual({ err: '', code: '0' });
      expect(out.split('\n')).toHaveLength(1);
    }
  }, 180_000);

  // Processes of the real command, one after the other.
  test('for the totals of int decode --count, int collect and int flows', async () => {
    const path = await files.write('few.pcap', pcap([reportFrame()]));
    expect(await piped(['flows', path], 'true')).toMatchObject({ err: '', code: '0' });
    expect(await piped(['decode', '--count', path], 'true')).toMatchObject({ err: '', code: '0' });
    expect(await piped(['collect', '--pcap', path], 'true')).toMatchObject({ err: '', code: '0' });
  }, 180_000);
});
