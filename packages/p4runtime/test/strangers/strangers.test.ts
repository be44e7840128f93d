import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { formatText, P4RuntimeServer, P4vmTarget, p4config, p4v1 } from '@int/p4runtime';
import { describe, expect, it } from 'vitest';
import { skip } from '../../../../.ci/test/requires.js';
import { Controller } from '../server/controller.js';
import { DELETE, DEVICE_CONFIG, INFO, station, update } from '../server/everything.js';

/** The Python of a client that `npm run setup:system` installs. */
function pythonOf(client: string): string {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folder = join(cache, 'int', 'python', client);
  if (!existsSync(join(folder, 'installed'))) skip(`${client} is not installed (npm run setup:system)`);
  return join(folder, 'bin', 'python');
}

/** Milliseconds that a script may take on a busy machine. */
const PATIENCE_MS = 120_000;

/** Runs a script against a fresh switch. @returns the lines that it printed */
async function run(
  client: string,
  script: string,
  files: Readonly<Record<string, string | Uint8Array>>,
  args: (folder: string) => string[],
  begin: (server: P4RuntimeServer) => Promise<unknown> = async () => {},
): Promise<string[]> {
  const python = pythonOf(client);
  const folder = mkdtempSync(join(tmpdir(), 'int-p4runtime-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const server = new P4RuntimeServer({ devices: [{ deviceId: 1, target: new P4vmTarget({ cpuPort: 510 }) }] });
  let child: ChildProcessWithoutNullStreams | undefined;
  const timer = setTimeout(() => child?.kill('SIGKILL'), PATIENCE_MS);
  try {
    await begin(server);
    const { host, port } = await server.listen({ port: 0 });
    const path = new URL(script, import.meta.url).pathname;
    child = spawn(python, [path, `${host}:${port}`, ...args(folder)]);
    let output = '';
    let errors = '';
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (errors += data));
    const code = await new Promise((resolve) => child?.on('close', resolve));
    expect({ code, errors: code === 0 ? '' : errors }).toEqual({ code: 0, errors: '' });
    return output.trimEnd().split('\n');
  } finally {
    clearTimeout(timer);
    child?.kill('SIGKILL');
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Sets the pipeline and goes through all entities. @returns the steps that it took */
async function drive(client: string, script: string): Promise<string[]> {
  const files = { 'p4info.txt': formatText(p4config.P4InfoSchema, INFO), 'program.p4': DEVICE_CONFIG };
  const lines = await run(client, script, files, (folder) => Object.keys(files).map((name) => join(folder, name)));
  const steps = lines.flatMap((line) => (line.startsWith('ok ') ? [line.slice(3)] : []));
  expect(steps.at(-1)).toBe('end');
  return steps;
}

describe('controllers of others', () => {
  it('p4runtime-shell sets the pipeline, writes and reads every entity, and gets packets, digests and idle timeouts', async () => {
    expect(await drive('p4runtime-shell', 'shell_client.py')).toHaveLength(14);
  }, 180_000);

  it('finsy does the same, with registers and value sets, and with two controllers that compete', async () => {
    expect(await drive('finsy', 'finsy_client.py')).toHaveLength(17);
  }, 180_000);

  it('gRPC by its C core gets the errors of a batch as far as it takes them, and otherwise RESOURCE_EXHAUSTED by the switch', async () => {
    const counts = [1, 100, 500, 2001, 20_000];
    const files = Object.fromEntries(
      counts.map((count) => {
        const updates = Array.from({ length: count }, (_, i) => update(DELETE, station(i + 1)));
        const request = create(p4v1.WriteRequestSchema, { deviceId: 1n, electionId: { low: 1n }, updates });
        return [`${count}`, toBinary(p4v1.WriteRequestSchema, request)];
      }),
    );
    const calls = [...counts.map((count) => `0:${count}`), '58192:500', '300000:2001', '300000:20000', '3000000:20000'];
    const place = (call: string, folder: string): string => call.replace(':', `:${folder}/`);
    const lines = await run(
      'p4runtime-shell',
      'grpc_client.py',
      files,
      (folder) => calls.map((call) => place(call, folder)),
      async (server) => {
        const controller = new Controller(server.transport());
        await controller.lead();
        const config = { p4info: INFO, p4DeviceConfig: DEVICE_CONFIG };
        await controller.setPipeline(p4v1.SetForwardingPipelineConfigRequest_Action.VERIFY_AND_COMMIT, config);
      },
    );
    expect(calls.map((call, i) => `${call} ${lines[i]}`)).toEqual([
      '0:1 UNKNOWN 1 ours',
      '0:100 UNKNOWN 100 ours',
      '0:500 RESOURCE_EXHAUSTED 0 ours',
      '0:2001 RESOURCE_EXHAUSTED 0 ours',
      '0:20000 RESOURCE_EXHAUSTED 0 ours',
      '58192:500 UNKNOWN 500 ours',
      '300000:2001 UNKNOWN 2001 ours',
      '300000:20000 RESOURCE_EXHAUSTED 0 ours',
      '3000000:20000 UNKNOWN 20000 ours',
    ]);
  }, 180_000);
});
