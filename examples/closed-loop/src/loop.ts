/** A network of P4 switches, what happens to it, and `int control`, which closes the loop. */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildFabric } from './network/fabric.js';
import { writeFiles } from './network/files.js';
import { RealTime } from './real-time.js';
import { daily, play, SCENES, type Scene } from './scenes.js';

const USAGE = `Usage: node dist/loop.js [options]
  --short          scenes of a few seconds
  --scene NAME     only this one: failure, elephants, flood, scan; may be given several times
  --json           what int control prints, as JSON lines; what happens goes to standard error
  --folder FOLDER  keep the configuration and the journal there (default: a temporary folder, removed at the end)`;

const PACES = { usual: { calm: 12, scene: 20 }, short: { calm: 7, scene: 12 } } as const;
const TIMES = { usual: { ttl: '20s', settle: '2s' }, short: { ttl: '12s', settle: '2s' } } as const;
/** Time for the switches to get their program and their first entries. */
const START_MS = 60_000;

async function freePorts(): Promise<{ udp: number; tcp: number }> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', () => resolve()));
  const udp = socket.address().port;
  socket.close();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port: tcp } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return { udp, tcp };
}

/** Path of the int command. */
const COMMAND = join(dirname(fileURLToPath(import.meta.resolve('@int/cli/package.json'))), 'bin', 'int.js');

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      short: { type: 'boolean', default: false },
      scene: { type: 'string', multiple: true, default: [...SCENES] },
      json: { type: 'boolean', default: false },
      folder: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const scenes = values.scene.filter((name): name is Scene => SCENES.some((each) => each === name));
  if (scenes.length < values.scene.length) {
    console.error(`--scene: give one of ${SCENES.join(', ')}`);
    return 2;
  }
  const pace = values.short ? 'short' : 'usual';
  const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'closed-loop-'));
  const tell = (text: string): void => {
    const line = `${new Date().toISOString().slice(11, 23)}  *** ${text}`;
    if (values.json) console.error(line);
    else console.log(line);
  };
  const fabric = buildFabric();
  const { port } = await fabric.server.listen({ port: 0 });
  const { udp, tcp } = await freePorts();
  const config = writeFiles(folder, { control: port, telemetry: udp, dashboard: tcp }, TIMES[pace]);
  const network = new RealTime(fabric, udp);
  const stop = new AbortController();
  const args = [COMMAND, 'control', '--config', config, ...(values.json ? ['--json'] : [])];
  const control = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = new Promise<number>((resolve) => {
    control.once('exit', (code) => {
      stop.abort();
      resolve(code ?? 1);
    });
  });
  // A signal of the terminal reaches the command too, which ends by itself.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  try {
    daily(fabric);
    const since = performance.now();
    while (network.reports === 0 && performance.now() - since < START_MS)
      await sleep(100, undefined, { signal: stop.signal });
    tell(`the network is up: http://127.0.0.1:${tcp}/ shows it`);
    await play(fabric, scenes, PACES[pace], tell, stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    control.kill('SIGTERM');
  }
  const code = await ended;
  await network.stop();
  await fabric.server.close();
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
  tell(`${network.reports} reports, at most ${Math.round(network.mostBehindMs)} ms behind the clock`);
  return code;
}

process.exitCode = await main();
