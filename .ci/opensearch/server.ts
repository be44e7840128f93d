import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { archiveOptions, folderOfJars } from '../java/jars.mjs';
import { requires, skip } from '../test/requires.js';
import { inTime } from '../test/until.js';
import { anyPort, commandOf, portIn, STARTED } from './command.mjs';

const START_MS = 120_000;

/**
 * A real OpenSearch, one node, on loopback, with data of its own that is thrown away; killed and started again at will. It
 * starts without its plugins, the scripting and the ingest ones among them.
 */
export class OpenSearchServer {
  readonly #java: string;
  readonly #jars: string;
  readonly #folder: string;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;
  #port = 0;

  private constructor(java: string, jars: string, settings: readonly string[]) {
    this.#java = java;
    this.#jars = jars;
    this.#settings = settings;
    this.#folder = mkdtempSync(join(tmpdir(), 'int-opensearch-'));
  }

  /**
   * Starts one. Call it in a test: without Java or the jars the test is skipped as `skip` says.
   * @param settings lines of opensearch.yml
   */
  static async start(...settings: readonly string[]): Promise<OpenSearchServer> {
    const howToInstall = 'npm run setup:system';
    const java = requires('java', howToInstall);
    const jars = folderOfJars('opensearch');
    if (!existsSync(join(jars, 'pom.xml'))) skip(`the jars of OpenSearch are not in ${jars} (${howToInstall})`);
    const server = new OpenSearchServer(java, jars, settings);
    try {
      await server.start();
    } catch (error) {
      await server.dispose();
      throw error;
    }
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts it with the data that it has, on the port that it had, and waits until it answers. */
  async start(): Promise<void> {
    const config = join(this.#folder, 'node_1', 'config');
    mkdirSync(config, { recursive: true });
    writeFileSync(
      join(config, 'opensearch.yml'),
      ['network.host: 127.0.0.1', 'discovery.type: single-node', ...this.#settings, ''].join('\n'),
    );
    const port = this.#port === 0 ? anyPort() : this.#port;
    const child = spawn(
      this.#java,
      commandOf(this.#jars, this.#folder, port, archiveOptions(this.#jars)),
      // Not the runner's current folder, in which it looks for files.
      { stdio: ['ignore', 'pipe', 'pipe'], cwd: this.#folder },
    );
    this.#process = child;
    // Not left behind when the test run is broken off.
    const end = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    let output = '';
    const keep = (chunk: Buffer): void => {
      if (output.length < 65_536) output += chunk.toString();
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const until = performance.now() + START_MS;
    while (performance.now() < until && child.exitCode === null && child.signalCode === null) {
      await sleep(50);
      const said = portIn(output);
      if (said === undefined || !output.includes(STARTED)) continue;
      this.#port = said;
      if (await this.#isThere()) return;
    }
    throw new Error(`OpenSearch did not start:\n${output.slice(-4000)}`);
  }

  async #isThere(): Promise<boolean> {
    try {
      return (await this.request('GET', '/_cluster/health?wait_for_status=yellow&timeout=5s')).status === 200;
    } catch {
      return false;
    }
  }

  /** A request of the test's own. */
  async request(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const response = await fetch(this.url + path, {
      method,
      signal: AbortSignal.timeout(60_000),
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  }

  /** Ends the process without a chance to write anything, as SIGKILL does. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const over = once(child, 'exit');
    child.kill('SIGKILL');
    await inTime('the end of OpenSearch', over);
  }

  /** Stops the process without ending it, and lets it go on. */
  freeze(isFrozen: boolean): void {
    this.#process?.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT');
  }

  /** The version in the pom.xml that its jars were made from. */
  get version(): string {
    return /<version>(\d+\.\d+\.\d+)\.\d+</.exec(readFileSync(join(this.#jars, 'pom.xml'), 'utf8'))?.[1] ?? 'unknown';
  }

  async dispose(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
