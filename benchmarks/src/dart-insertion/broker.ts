/** A Kafka broker on loopback, in KRaft mode, with a log of its own that is thrown away. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Admin } from '@platformatic/kafka';
import { KAFKA_TOPIC } from './parts.js';

const ADDRESS = '127.0.0.1';
/** Any 16 bytes. */
const CLUSTER = 'AAAAAAAAAAAAAAAAAAAAAA';
/** Where .ci/scripts/setup-system.sh puts the broker; INT_KAFKA names another folder with its jars. */
const FOLDER = process.env.INT_KAFKA ?? join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'int', 'kafka');

/** What has to be installed; null if all is there. */
export function missingForKafka(): string | null {
  if (spawnSync('java', ['-version']).status !== 0) return 'java';
  return versionOf() === undefined ? `the jars of Kafka in ${FOLDER}` : null;
}

function versionOf(): string | undefined {
  if (!existsSync(FOLDER)) return undefined;
  return readdirSync(FOLDER).flatMap((file) => /^kafka_2\.13-(.+)\.jar$/.exec(file)?.[1] ?? [])[0];
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, ADDRESS, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function properties(port: number, controller: number, logs: string): string {
  return [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@${ADDRESS}:${controller}`,
    `listeners=PLAINTEXT://${ADDRESS}:${port},CONTROLLER://${ADDRESS}:${controller}`,
    `advertised.listeners=PLAINTEXT://${ADDRESS}:${port}`,
    'controller.listener.names=CONTROLLER',
    'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'offsets.topic.replication.factor=1',
    `log.dirs=${logs}`,
    '',
  ].join('\n');
}

export class Broker {
  readonly version: string;
  readonly port: number;
  readonly #process: ChildProcess;
  readonly #folder: string;
  /** Of the system's clock ticks, in which /proc counts. */
  readonly #tickNs: number;

  private constructor(process: ChildProcess, port: number, folder: string) {
    this.version = versionOf()!;
    this.port = port;
    this.#process = process;
    this.#folder = folder;
    this.#tickNs = 1e9 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  }

  /** Starts it and waits until it has the topic. */
  static async start(): Promise<Broker> {
    const folder = mkdtempSync(join(tmpdir(), 'int-kafka-'));
    const [port, controller] = [await freePort(), await freePort()];
    const path = join(folder, 'server.properties');
    writeFileSync(path, properties(port, controller, join(folder, 'logs')));
    const classes = ['-cp', join(FOLDER, '*')];
    execFileSync('java', [...classes, 'kafka.tools.StorageTool', 'format', '-t', CLUSTER, '-c', path], {
      stdio: 'ignore',
    });
    const output = openSync(join(folder, 'output'), 'w');
    const started = spawn('java', ['-Xms1g', '-Xmx1g', ...classes, 'kafka.Kafka', path], {
      stdio: ['ignore', output, output],
    });
    const broker = new Broker(started, port, folder);
    try {
      await broker.#createTopic();
    } catch (error) {
      await broker.stop();
      throw error;
    }
    return broker;
  }

  /** Processor time of all its threads so far, in nanoseconds. */
  cpu(): number {
    const stat = readFileSync(`/proc/${this.#process.pid}/stat`, 'utf8');
    // What is behind the name, which is in parentheses: user and system time are the 12th and 13th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * this.#tickNs;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = new Promise((resolve) => this.#process.once('exit', resolve));
      this.#process.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #createTopic(): Promise<void> {
    const admin = new Admin({
      clientId: 'setup',
      bootstrapBrokers: [`${ADDRESS}:${this.port}`],
      retries: 100,
      retryDelay: 300,
    });
    try {
      await admin.createTopics({ topics: [KAFKA_TOPIC], partitions: 1, replicas: 1 });
    } finally {
      await admin.close();
    }
  }
}
