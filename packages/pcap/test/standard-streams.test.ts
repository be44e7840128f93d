import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { readCapture } from '@int/pcap';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTime } from '../../../.ci/test/until.js';

/** Standard input and output belong to a process, so these tests start some, with the sources transpiled for Node. */
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'int-pcap-'));
  const source = fileURLToPath(new URL('../src', import.meta.url));
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const { outputText } = ts.transpileModule(readFileSync(join(source, name), 'utf8'), {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
    });
    const target = join(folder, name.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function script(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const WRITE = `
  import { createCaptureFile } from './node/index.js';
  const file = await createCaptureFile('-', JSON.parse(process.argv[2]));
  for (let i = 0; i < 5; i += 1) await file.write({ data: Uint8Array.of(i, i + 1), timeNs: BigInt(i) });
  await file.close();
  process.stderr.write('closed');
`;
const READ = `
  import { openCapture } from './node/index.js';
  let text = '';
  for await (const frame of openCapture('-')) text += frame.timeNs + ':' + Buffer.from(frame.data).toString('hex') + ' ';
  process.stdout.write(text);
`;

describe('standard input and output', () => {
  it.each([{ format: 'pcap' }, { format: 'pcapng' }, { format: 'pcap', gzip: true }])(
    'carry a capture as %j',
    (options) => {
      const written = spawnSync(process.execPath, [script('write.mjs', WRITE), JSON.stringify(options)], {
        timeout: 50_000,
      });
      expect(written.stderr.toString()).toBe('closed');
      const read = spawnSync(process.execPath, [script('read.mjs', READ)], {
        input: written.stdout,
        timeout: 50_000,
      });
      expect(read.stdout.toString()).toBe('0:0001 1:0102 2:0203 3:0304 4:0405 ');
      expect([written.status, read.status]).toEqual([0, 0]);
      if (!options.gzip) expect([...readCapture(written.stdout)]).toHaveLength(5);
    },
  );

  it('carry a gzip capture that another program wrote', () => {
    const capture = Buffer.from(
      'a1b2c3d400020004000000000000000000000fff0000000100000001000000020000000100000001ff',
      'hex',
    );
    const read = spawnSync(process.execPath, [script('read.mjs', READ)], {
      input: gzipSync(capture),
      timeout: 50_000,
    });
    expect(read.stdout.toString()).toBe('1000002000:ff ');
  });

  it('that the reader closes give the writer an error it can catch', async () => {
    const path = script(
      'endless.mjs',
      `
      import { createCaptureFile } from './node/index.js';
      const file = await createCaptureFile('-');
      try {
        for (;;) await file.write({ data: new Uint8Array(1000), timeNs: 0n });
      } catch (error) {
        await file.close().catch(() => {});
        process.stderr.write(error.code);
      }
    `,
    );
    const child = spawn(process.execPath, [path]);
    child.stdout.once('data', () => child.stdout.destroy());
    let text = '';
    child.stderr.on('data', (chunk) => {
      text += chunk;
    });
    const [status] = await inTime('the end of the writer', once(child, 'close'), {
      inVain: () => child.kill('SIGKILL'),
    });
    expect([text, status]).toEqual(['EPIPE', 0]);
  });
});
