/** `int p4 serve` and its P4Runtime server when something in them fails, which no client and no packet can cause from outside. */
import { PassThrough, Readable } from 'node:stream';
import { P4RuntimeClient, p4infoOf } from '@int/p4runtime';
import { SoftSwitch } from '@int/p4switch';
import { buildProgram } from '@int/p4vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inTime, until } from '../../../../.ci/test/until.js';
import { CliError, type Io } from '../../src/io.js';
import { ControlServer } from '../../src/p4/serve/control-server.js';
import { ServeRun } from '../../src/p4/serve/serve-run.js';
import type { ServedSwitch } from '../../src/p4/serve/served-switch.js';
import { readSwitchMetrics } from '../../src/p4/serve/switch-metrics.js';
import { SWITCH } from '../p4-programs.js';
import { ndjson } from '../run.js';

class Output extends PassThrough {
  readonly isTTY = false;
  readonly columns = 120;
  readonly rows = 30;
  text = '';

  constructor() {
    super();
    this.on('data', (chunk: Buffer) => {
      this.text += chunk.toString();
    });
  }
}

interface Terminals {
  readonly io: Io;
  readonly stdout: Output;
  readonly stderr: Output;
  interrupt(): void;
}

function terminals(): Terminals {
  const ending = new AbortController();
  const [stdout, stderr] = [new Output(), new Output()];
  const io = { stdin: Readable.from([]), stdout, stderr, env: {}, signal: ending.signal } as unknown as Io;
  return { io, stdout, stderr, interrupt: () => ending.abort('SIGINT') };
}

/** A switch whose server fails with each program, as by a defect. */
async function broken(isJson: boolean) {
  const { io, stdout, stderr, interrupt } = terminals();
  const core = new SoftSwitch({});
  core.prepare = () => {
    throw new TypeError('a defect');
  };
  const served: ServedSwitch = { name: 'switch', deviceId: 1n, core, program: null };
  let control: ControlServer | null = null;
  const run = new ServeRun(io, {
    title: 'int p4 serve',
    switches: [served],
    isJson,
    control: () => control!,
  });
  const flags = { listen: { host: '127.0.0.1', port: 0 } };
  control = await ControlServer.make([{ served, device: null }], run.loop, undefined, flags, io, run.tell);
  const ended = run.run();
  const said = async (pattern: RegExp): Promise<string> => {
    await until(`${pattern}`, () => pattern.test(stderr.text), { found: () => stderr.text });
    return pattern.exec(stderr.text)![1]!;
  };
  const client = new P4RuntimeClient({ target: `127.0.0.1:${await said(/P4Runtime at 127\.0\.0\.1:(\d+)/)}` });
  onTestFinished(() => client.close());
  await client.connect();
  const { program } = buildProgram({ name: 'switch.p4', text: SWITCH });
  const pipeline = { p4info: p4infoOf(program!), deviceConfig: new TextEncoder().encode(SWITCH) };
  let faults = 0;
  const cause = async (): Promise<void> => {
    faults++;
    await expect(client.setPipeline(pipeline)).rejects.toMatchObject({ grpcName: 'INTERNAL' });
  };
  const metrics = () => readSwitchMetrics([served], run.loop, control);
  return { stdout, stderr, interrupt, ended, cause, metrics, faults: () => faults };
}

describe('a fault of the P4Runtime server', () => {
  test('is INTERNAL to the client, and told and counted: in text and metrics', async () => {
    const { stdout, stderr, interrupt, ended, cause, metrics, faults } = await broken(false);
    await cause();
    expect(stderr.text).toContain('fault of the P4Runtime server: TypeError: a defect\n');
    // The next message comes after a second, and says how many there were.
    await until('a second message', async () => {
      await cause();
      return /TypeError: a defect \(the last of \d+\)/.test(stderr.text);
    });
    const told = stderr.text.match(/fault of the P4Runtime server/g)!.length;
    const [, last] = /the last of (\d+)/.exec(stderr.text)!;
    expect(told - 1 + Number(last)).toBe(faults());
    expect(metrics()).toMatchObject({ controlFaults: faults(), controlStreams: 1 });
    interrupt();
    expect(await inTime('the end', ended)).toBe(0);
    expect(stdout.text).toContain(`controllers: faults of the server: ${faults()}\n`);
  });

  test('is in the totals with --json', async () => {
    const { stdout, interrupt, ended, cause } = await broken(true);
    await cause();
    interrupt();
    expect(await inTime('the end', ended)).toBe(0);
    expect(ndjson(stdout.text).filter(({ type }) => type === 'control')).toMatchObject([
      { faults: 1, refused: { connections: 0, handshakes: 0, streams: 0 } },
    ]);
  });
});

describe('a port that fails', () => {
  test('ends the run with its words and exit code 3, after the totals', async () => {
    const { io, stdout } = terminals();
    const core = new SoftSwitch({});
    const run = new ServeRun(io, {
      title: 'int p4 serve',
      switches: [{ name: 'switch', deviceId: 1n, core, program: null }],
      isJson: true,
    });
    const ended = run.run().catch((error: unknown) => error);
    run.fail(new Error('eth0 does what no interface does'));
    run.fail(new Error('a later one'));
    const error = await inTime('the end', ended);
    expect(error).toBeInstanceOf(CliError);
    expect(error).toMatchObject({ exitCode: 3, message: 'eth0 does what no interface does' });
    expect(ndjson(stdout.text).at(-1)).toMatchObject({ type: 'total', switch: 'switch', hasPipeline: false });
  });
});
