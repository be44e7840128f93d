import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatText, P4RuntimeServer, P4vmTarget, p4config } from '@int/p4runtime';
import { describe, expect, it } from 'vitest';
import { skip } from '../../../../.ci/test/requires.js';
import { DEVICE_CONFIG, INFO } from '../server/everything.js';

/** The Python of a client that `npm run setup:system` installs. */
function pythonOf(client: string): string {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folder = join(cache, 'int', 'python', client);
  if (!existsSync(join(folder, 'installed'))) skip(`${client} is not installed (npm run setup:system)`);
  return join(folder, 'bin', 'python');
}

/** Milliseconds that a script may take on a busy machine. */
const PATIENCE_MS = 120_000;

/** Runs a script against a fresh switch. @returns the steps that it took */
async function drive(client: string, script: string): Promise<string[]> {
  const python = pythonOf(client);
  const folder = mkdtempSync(join(tmpdir(), 'int-p4runtime-'));
  writeFileSync(join(folder, 'p4info.txt'), formatText(p4config.P4InfoSchema, INFO));
  writeFileSync(join(folder, 'program.p4'), DEVICE_CONFIG);
  const server = new P4RuntimeServer({ devices: [{ deviceId: 1, target: new P4vmTarget({ cpuPort: 510 }) }] });
  let child: ChildProcessWithoutNullStreams | undefined;
  const timer = setTimeout(() => child?.kill('SIGKILL'), PATIENCE_MS);
  try {
    const { host, port } = await server.listen({ port: 0 });
    const path = new URL(script, import.meta.url).pathname;
    child = spawn(python, [path, `${host}:${port}`, join(folder, 'p4info.txt'), join(folder, 'program.p4')]);
    let output = '';
    let errors = '';
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (errors += data));
    const code = await new Promise((resolve) => child?.on('close', resolve));
    const steps = output.split('\n').flatMap((line) => (line.startsWith('ok ') ? [line.slice(3)] : []));
    expect({ code, last: steps.at(-1), errors: code === 0 ? '' : errors }).toEqual({
      code: 0,
      last: 'end',
      errors: '',
    });
    return steps;
  } finally {
    clearTimeout(timer);
    child?.kill('SIGKILL');
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('controllers of others', () => {
  it('p4runtime-shell sets the pipeline, writes and reads every entity, and gets packets, digests and idle timeouts', async () => {
    expect(await drive('p4runtime-shell', 'shell_client.py')).toHaveLength(14);
  }, 180_000);

  it('finsy does the same, with registers and value sets, and with two controllers that compete', async () => {
    expect(await drive('finsy', 'finsy_client.py')).toHaveLength(17);
  }, 180_000);
});
