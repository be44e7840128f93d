// The demonstration that `npm start` shows: the fabric's reports, and `int collect` that takes them over a real socket and serves
// its page. Arguments go to `int collect`.
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOptions } from './fabric/options.js';
import { runFabric } from './fabric/run.js';

/** Packets of hosts a second, each of which makes a report. A core makes a little more. */
const RATE = 20_000;
/** Without a terminal nobody can stop it: it ends by itself, after ten seconds' packets, or as many as a test wants. */
const UNATTENDED_PACKETS = Number(process.env.INT_DEMO_PACKETS ?? 200_000);

/** A port that nobody listens on. A terminal's view does not tell the port that the system has chosen. */
async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

const port = await freePort();
const cli = dirname(fileURLToPath(import.meta.resolve('@int/cli/package.json')));
const given = process.argv.slice(2);
// A choice of one's own replaces the usual address.
const page = given.some((argument) => /^--(?:dashboard|config)(?:=|$)/.test(argument)) ? [] : ['--dashboard'];
const rules = fileURLToPath(new URL('../demo-rules.yaml', import.meta.url));
const collector = spawn(
  process.execPath,
  [join(cli, 'bin', 'int.js'), 'collect', '--listen', `udp://127.0.0.1:${port}`, '--rules', rules, ...page, ...given],
  // Its view takes keys.
  { stdio: 'inherit' },
);
const stopping = new AbortController();
// Ctrl-C reaches the collector too, which prints its totals.
process.on('SIGINT', () => stopping.abort());
process.on('SIGTERM', () => {
  stopping.abort();
  collector.kill('SIGTERM');
});
collector.on('exit', (code) => {
  process.exitCode = code ?? 0;
  stopping.abort();
});

// By the time the switches' programs are compiled, it listens.
const options = readOptions([
  ...['--collector', `127.0.0.1:${port}`, '--rate', String(RATE)],
  ...(process.stdout.isTTY ? ['--seconds', '0'] : ['--packets', String(UNATTENDED_PACKETS)]),
]);
if (typeof options !== 'string') await runFabric(options, stopping.signal);
// A second interrupt would end it without its totals.
if (!stopping.signal.aborted) collector.kill('SIGINT');
