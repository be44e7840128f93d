// @ts-check
// npm run kafka: Apache Kafka to try things with.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { ADDRESS, startCluster } from './cluster.mjs';

/** @param {string[]} args */
async function main(args) {
  const { values } = parseArgs({
    args,
    options: {
      brokers: { type: 'string', default: '1' },
      port: { type: 'string', default: '9092' },
      data: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(`npm run kafka -- [--brokers N] [--port P] [--data FOLDER]

Runs Kafka on ${ADDRESS}, port P (default 9092) and those that follow, until it is interrupted. With --data, what it
stores is kept for the next time; without, it is removed at the end.`);
    return;
  }
  const count = Number(values.brokers);
  const first = Number(values.port);
  if (!Number.isInteger(count) || count < 1 || count > 9) throw new Error('--brokers is a number from 1 to 9');
  if (!Number.isInteger(first) || first < 1 || first + count > 65_536) throw new Error('--port is a port');
  const ports = Array.from({ length: count }, (_, at) => first + at);
  for (const port of ports) {
    if (await isTaken(port)) throw new Error(`port ${port} is taken; choose another with --port`);
  }
  // A terminal interrupts all programs at once: ended with this one only, brokers may end in order.
  const options = { brokers: count, ports, detached: true };
  const cluster = await startCluster(values.data === undefined ? options : { ...options, data: values.data });
  console.log(`Kafka ${cluster.version} at ${cluster.bootstrap.join(',')}; ends with Ctrl-C`);
  const keepAlive = setInterval(() => undefined, 1 << 30);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), once(process, 'SIGHUP')]);
  clearInterval(keepAlive);
  await cluster.close();
}

/** @param {number} port */
function isTaken(port) {
  return new Promise((done) => {
    const server = createServer();
    server.on('error', () => done(true));
    server.listen(port, ADDRESS, () => server.close(() => done(false)));
  });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`kafka: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
