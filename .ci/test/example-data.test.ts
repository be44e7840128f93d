import { execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repository } from '../scripts/workspaces.mjs';
import { blocksOf } from './readmes.js';
import { inTime, until } from './until.js';

const INT = join(repository, 'packages', 'cli', 'bin', 'int.js');
const DATA = join(repository, 'examples', 'data');

/** Takes what is replayed. */
let replayed = 0;
const receiver = createSocket('udp4').on('message', () => replayed++);
/** A folder that looks like the repository to a command, so that what commands write lies elsewhere. */
let folder = '';
beforeAll(async () => {
  receiver.bind(0, '127.0.0.1');
  await once(receiver, 'listening');
  folder = mkdtempSync(join(tmpdir(), 'int-example-data-'));
  for (const name of ['examples', 'packages']) symlinkSync(join(repository, name), join(folder, name));
});
afterAll(() => {
  receiver.close();
  rmSync(folder, { recursive: true });
});

/** Lines of the README that run `int` and need neither rights nor a broker. */
const commands = blocksOf('README.md')
  .filter(({ language }) => language === 'sh')
  .flatMap(({ code }) => code.split('\n'))
  .filter((line) => line.startsWith('npx int ') && line.includes('examples/data/'));

/** What ends only when it is stopped. */
const isEndless = (line: string): boolean => line.includes('--listen') || line.includes('--loop 0');

interface Run {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a line of the README. What does not end by itself is stopped as soon as it has begun. */
async function run(line: string): Promise<Run> {
  const int = `${process.execPath} ${INT}`;
  // Ports that are free.
  const script = line
    .replaceAll('npx int', int)
    .replace('0.0.0.0:32766', '127.0.0.1:0')
    .replace('127.0.0.1:32766', `127.0.0.1:${receiver.address().port}`)
    .replace('--metrics 9464', '--metrics 127.0.0.1:0');
  const child = spawn('sh', ['-c', isEndless(line) ? `exec ${script}` : script], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      output += data.toString();
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  if (isEndless(line)) {
    await until(`a sign of life of ${line}`, () => output !== '' || replayed > 0 || child.exitCode !== null, {
      found: () => output,
    });
    child.kill('SIGINT');
  }
  const code = await inTime(`the end of ${line}`, ended, { found: () => output, inVain: () => child.kill('SIGKILL') });
  return { code, output };
}

describe('examples/data', () => {
  it('is what .ci/scripts/example-data.mjs writes', () => {
    const fresh = join(folder, 'fresh');
    execFileSync(process.execPath, [join(repository, '.ci', 'scripts', 'example-data.mjs'), fresh]);
    for (const name of ['capture.pcap', 'topology.graphml', 'topology.yaml', 'packets.pcap']) {
      expect(readFileSync(join(fresh, name)).equals(readFileSync(join(DATA, name))), name).toBe(true);
    }
  });

  it('is in the commands of the README', () => {
    // Those that end by themselves run with the blocks of all READMEs.
    expect(commands.length).toBeGreaterThan(1);
  });

  it.each(commands)('lets one run %s', async (line) => {
    const { code, output } = await run(line);
    expect(output, line).not.toBe('');
    expect(code, output).toBe(0);
  });

  it('has a configuration of int collect without a problem', async () => {
    const { code, output } = await run('npx int collect --config examples/data/int.yaml --check');
    expect(code, output).toBe(0);
  });
});
