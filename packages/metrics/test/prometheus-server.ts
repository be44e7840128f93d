import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freeTcpPort } from '../../../.ci/test/ports.mjs';
import { requires } from '../../../.ci/test/requires.js';
import { inTime } from '../../../.ci/test/until.js';

/** A value of an answer, with its labels. */
export type Answered = readonly [Readonly<Record<string, string>>, number];

/** A real Prometheus with data of its own, that scrapes one endpoint as job `int` each second. */
export class PrometheusServer {
  readonly #port: number;
  readonly #stop: () => Promise<void>;

  private constructor(port: number, stop: () => Promise<void>) {
    this.#port = port;
    this.#stop = stop;
  }

  /** @param target `host:port` of the endpoint */
  static async start(target: string): Promise<PrometheusServer> {
    const program = requires('prometheus', 'npm run setup:system');
    const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
    const port = await freeTcpPort();
    const config = join(folder, 'prometheus.yml');
    writeFileSync(
      config,
      `global: { scrape_interval: 1s }\nscrape_configs: [{ job_name: int, static_configs: [{ targets: ['${target}'] }] }]\n`,
    );
    const args = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`];
    const server = spawn(program, [...args, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' });
    return new PrometheusServer(port, async () => {
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await inTime('the end of Prometheus', ended);
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /** @throws Error with the server's words if the expression is none; TypeError while the server is not there yet */
  async query(expression: string): Promise<Answered[]> {
    const address = `http://127.0.0.1:${this.#port}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const answer = (await (await fetch(address, { signal: AbortSignal.timeout(20_000) })).json()) as {
      error?: string;
      data?: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    if (answer.data === undefined) throw new Error(`${expression}: ${answer.error}`);
    return answer.data.result.map(({ metric, value }) => [metric, Number(value[1])] as const);
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}
