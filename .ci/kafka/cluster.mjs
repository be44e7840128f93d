// @ts-check
// Apache Kafka on loopback, in KRaft mode, from the jars that .ci/scripts/setup-system.sh puts into the user's cache:
// one broker or several. Each is a controller as well, but of two only the first: one of two cannot decide alone.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { archiveOptions, folderOfJars } from '../java/jars.mjs';
import { freeTcpPort } from '../test/ports.mjs';

/** All of them listen there. */
export const ADDRESS = '127.0.0.1';
const CLUSTER_ID = 'AAAAAAAAAAAAAAAAAAAAAA';

/**
 * @typedef {object} ClusterOptions
 * @property {number} [brokers] how many; default 1
 * @property {readonly number[]} [ports] a port per broker; default: free ones
 * @property {string} [data] a folder that is kept, and may have what an earlier cluster left; default: a new one, removed by `close`
 * @property {readonly string[]} [jvm] options of Java
 * @property {readonly string[]} [listeners] names of more listeners, each on a port of its own; `properties` say what they are
 * @property {Readonly<Record<string, string>>} [addresses] by name of a listener, where it listens instead
 * @property {Readonly<Record<string, number>>} [advertised] by name of a listener, the port that clients are told instead of its own: of something in between
 * @property {Readonly<Record<string, string>>} [properties] more settings of the brokers, which win over those here
 * @property {number} [owner] the brokers are killed and their data removed when this process has ended; default: this one
 * @property {boolean} [detached] signals of a terminal do not reach the brokers, and this process need not wait for them
 * @property {string} [remove] a folder to remove if the owner has ended before `close`; default: the new one
 */

/** Options of Java for a small broker that is there soon; who measures it gives others. */
export const SMALL = ['-Xms64m', '-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'];

/** @returns {string | undefined} of the broker, such as `3.9.1` */
export function kafkaVersion() {
  const folder = folderOfJars('kafka');
  if (!existsSync(folder)) return undefined;
  return readdirSync(folder).flatMap((file) => /^kafka_2\.13-(.+)\.jar$/.exec(file)?.[1] ?? [])[0];
}

/** @returns {string | null} what has to be installed; null if all is there */
export function missingForKafka() {
  if (spawnSync('java', ['-version']).status !== 0) return 'java';
  return kafkaVersion() === undefined ? `the jars of Kafka in ${folderOfJars('kafka')}` : null;
}

/**
 * Asks a broker for the cluster's brokers (a Metadata request of version 1 without topics).
 * @param {number} port
 * @param {number} timeoutMs
 * @returns {Promise<number>} how many it knows; 0 if it does not answer
 */
function brokersKnownTo(port, timeoutMs) {
  const request = Buffer.from('00000012' + '0003' + '0001' + '00000001' + '0004' + '70726f62' + '00000000', 'hex');
  return new Promise((done) => {
    const socket = createConnection(port, ADDRESS, () => socket.write(request));
    let answer = Buffer.alloc(0);
    socket.setTimeout(timeoutMs, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => done(answer.length >= 12 ? answer.readInt32BE(8) : 0));
    socket.on('data', (bytes) => {
      answer = Buffer.concat([answer, bytes]);
      if (answer.length >= 12) socket.destroy();
    });
  });
}

/** One broker of a cluster, which can be ended and started again on the same port with the same data. */
export class KafkaBroker {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #process;
  #folder;
  #properties;
  #jvm;
  #owner;
  #detached;
  #remove;

  /**
   * @param {number} id
   * @param {number} port
   * @param {string} folder
   * @param {Readonly<Record<string, number>>} morePorts
   * @param {Readonly<Record<string, string>>} properties
   * @param {ClusterOptions} options
   */
  constructor(id, port, folder, morePorts, properties, { jvm, owner = process.pid, detached = false, remove = '' }) {
    this.id = id;
    this.port = port;
    /** By name, those of the listeners asked for. */
    this.morePorts = morePorts;
    this.#folder = folder;
    this.#properties = properties;
    this.#jvm = jvm ?? [...SMALL, ...archiveOptions(folderOfJars('kafka'))];
    this.#owner = owner;
    this.#detached = detached;
    this.#remove = remove;
  }

  /** Of its process; undefined while there is none. */
  get pid() {
    return this.#process?.pid;
  }

  /** Whether its process is there. */
  get isRunning() {
    const child = this.#process;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Starts its process, without waiting for the broker: see `KafkaCluster.ready`. */
  start() {
    if (this.isRunning) return;
    mkdirSync(join(this.#folder, 'logs'), { recursive: true });
    const mark = join(this.#folder, 'logs', 'meta.properties');
    if (!existsSync(mark)) {
      // What kafka.tools.StorageTool writes, without a Java virtual machine for it.
      const directory = randomBytes(16).toString('base64url');
      writeFileSync(
        mark,
        `version=1\ncluster.id=${CLUSTER_ID}\nnode.id=${this.id}\ndirectory.id=${directory.replace(/^-/, 'A')}\n`,
      );
    }
    const file = join(this.#folder, 'server.properties');
    const lines = Object.entries(this.#properties).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(file, lines.join(''));
    const output = openSync(join(this.#folder, 'output'), 'a');
    const child = spawn('java', [...this.#jvm, '-cp', join(folderOfJars('kafka'), '*'), 'kafka.Kafka', file], {
      stdio: ['ignore', output, output],
      detached: this.#detached,
    });
    child.on('error', () => undefined);
    this.#process = child;
    this.#watch(child);
    if (this.#detached) child.unref();
  }

  /**
   * However the owner ends, the broker ends with it.
   * @param {import('node:child_process').ChildProcess} child
   */
  #watch(child) {
    if (child.pid === undefined) return;
    const script = [
      'while kill -0 "$1" && kill -0 "$2"; do sleep 1; done',
      'kill -0 "$1" && exit',
      'kill -9 "$2"; sleep 1',
      'test -z "$3" || rm -rf "$3"',
    ].join('\n');
    const numbers = [String(this.#owner), String(child.pid)];
    const watcher = spawn('sh', ['-c', script, 'sh', ...numbers, this.#remove], { stdio: 'ignore', detached: true });
    watcher.on('error', () => undefined);
    watcher.unref();
  }

  /** What it printed, for a message. */
  output() {
    const file = join(this.#folder, 'output');
    return existsSync(file) ? readFileSync(file, 'utf8').slice(-4000) : '';
  }

  /** Processor time of all its threads so far, in nanoseconds. */
  cpu() {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'utf8');
    // What is behind the name, which is in parentheses: user and system time are the 12th and 13th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
    return ((Number(fields[11]) + Number(fields[12])) * 1e9) / ticks;
  }

  /**
   * @param {NodeJS.Signals} signal
   * @returns {Promise<void>}
   */
  async #end(signal) {
    const child = this.#process;
    if (child === undefined || !this.isRunning) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** Ends it as a power cut would: SIGKILL. */
  kill() {
    return this.#end('SIGKILL');
  }

  /** Ends it in order: SIGTERM, and its partitions are handed over. */
  stop() {
    return this.#end('SIGTERM');
  }
}

/** Brokers that know each other. */
export class KafkaCluster {
  #folder;
  #isKept;

  /**
   * @param {readonly KafkaBroker[]} brokers
   * @param {string} folder
   * @param {boolean} isKept
   */
  constructor(brokers, folder, isKept) {
    this.brokers = brokers;
    this.#folder = folder;
    this.#isKept = isKept;
  }

  /** Of Kafka. */
  get version() {
    return kafkaVersion() ?? '';
  }

  /** `host:port` of each broker. */
  get bootstrap() {
    return this.brokers.map(({ port }) => `${ADDRESS}:${port}`);
  }

  /**
   * Waits until every running broker answers and knows all that run.
   * @param {number} [timeoutMs]
   * @returns {Promise<void>}
   */
  async ready(timeoutMs = 120_000) {
    const until = performance.now() + timeoutMs;
    const running = this.brokers.filter((broker) => broker.isRunning);
    for (const broker of running) {
      while ((await brokersKnownTo(broker.port, 1000)) < running.length) {
        if (!broker.isRunning) throw new Error(`broker ${broker.id} has ended: ${broker.output()}`);
        if (performance.now() > until) {
          throw new Error(`broker ${broker.id} is not ready after ${timeoutMs} ms: ${broker.output()}`);
        }
        await sleep(50);
      }
    }
  }

  /** Kills the brokers and removes their data, unless that is to be kept. */
  async close() {
    await Promise.all(this.brokers.map((broker) => (this.#isKept ? broker.stop() : broker.kill())));
    if (!this.#isKept) rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * @param {number} id
 * @param {readonly { port: number, controller: number }[]} nodes
 * @param {string} folder
 * @param {Readonly<Record<string, number>>} morePorts
 * @param {ClusterOptions} options
 * @returns {Record<string, string>}
 */
function propertiesOf(id, nodes, folder, morePorts, { addresses = {}, advertised = {} }) {
  const { port, controller } = /** @type {{ port: number, controller: number }} */ (nodes[id - 1]);
  const replicas = String(Math.min(3, nodes.length));
  // One may be away.
  const inSync = String(Math.max(1, Math.min(2, nodes.length - 1)));
  const controllers = nodes.slice(0, nodes.length === 2 ? 1 : nodes.length);
  const isController = id <= controllers.length;
  /** @param {Readonly<Record<string, number>>} ports by name of a listener */
  const listed = (ports) => Object.entries(ports).map(([name, at]) => `,${name}://${addresses[name] ?? ADDRESS}:${at}`);
  const more = listed(morePorts);
  const told = listed({ ...morePorts, ...advertised });
  return {
    'process.roles': isController ? 'broker,controller' : 'broker',
    'node.id': String(id),
    'controller.quorum.voters': controllers.map((node, at) => `${at + 1}@${ADDRESS}:${node.controller}`).join(','),
    listeners: `PLAINTEXT://${ADDRESS}:${port}${isController ? `,CONTROLLER://${ADDRESS}:${controller}` : ''}${more.join('')}`,
    'advertised.listeners': `PLAINTEXT://${ADDRESS}:${port}${told.join('')}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': ['PLAINTEXT', 'CONTROLLER', ...Object.keys(morePorts)]
      .map((name) => `${name}:PLAINTEXT`)
      .join(','),
    'log.dirs': join(folder, 'logs'),
    'default.replication.factor': replicas,
    'min.insync.replicas': inSync,
    'offsets.topic.replication.factor': replicas,
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': inSync,
    'transaction.state.log.num.partitions': '4',
    'transaction.abort.timed.out.transaction.cleanup.interval.ms': '1000',
    'group.initial.rebalance.delay.ms': '0',
    'group.min.session.timeout.ms': '1000',
    'num.partitions': '4',
    // Another broker takes over after seconds.
    'broker.heartbeat.interval.ms': '500',
    'broker.session.timeout.ms': '5000',
    'replica.lag.time.max.ms': '5000',
    // But not because a machine has a lot to do.
    'controller.quorum.election.timeout.ms': '2000',
    'controller.quorum.fetch.timeout.ms': '4000',
    // Small in memory.
    'log.cleaner.dedupe.buffer.size': '4194304',
    'log.index.size.max.bytes': '1048576',
    'num.network.threads': '2',
    'num.io.threads': '2',
    'background.threads': '2',
  };
}

/**
 * Starts brokers and waits until they are ready.
 * @param {ClusterOptions} [options]
 * @returns {Promise<KafkaCluster>}
 * @throws {Error} if something is not installed, or a broker ends or is not ready after two minutes
 */
export async function startCluster(options = {}) {
  const missing = missingForKafka();
  if (missing !== null) throw new Error(`${missing} not found: npm run setup:system`);
  const { brokers: count = 1, ports = [], data } = options;
  const folder = data === undefined ? mkdtempSync(join(tmpdir(), 'int-kafka-')) : resolve(data);
  /** @type {{ port: number, controller: number }[]} */
  const nodes = [];
  for (let at = 0; at < count; at++) {
    nodes.push({ port: ports[at] ?? (await freeTcpPort()), controller: await freeTcpPort() });
  }
  const remove = options.remove ?? (data === undefined ? folder : '');
  const brokers = [];
  for (const [at, { port }] of nodes.entries()) {
    const own = join(folder, `broker-${at + 1}`);
    /** @type {Record<string, number>} */
    const morePorts = {};
    for (const name of options.listeners ?? []) morePorts[name] = await freeTcpPort();
    const properties = {
      ...propertiesOf(at + 1, nodes, own, morePorts, options),
      ...options.properties,
    };
    brokers.push(new KafkaBroker(at + 1, port, own, morePorts, properties, { ...options, remove }));
  }
  const cluster = new KafkaCluster(brokers, folder, data !== undefined);
  for (const broker of brokers) broker.start();
  try {
    await cluster.ready();
  } catch (error) {
    await cluster.close();
    throw error;
  }
  return cluster;
}
