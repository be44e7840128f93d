import { VethPair } from '../../../../.ci/test/veth-pair.js';
import type { Way } from './way.js';

/** An address that no interface has. */
const NOBODY = '02:00:00:00:00:ff';

/**
 * A cable into a network namespace. A cut has all that the collector sends vanish: nobody is told, so that both sides only find out
 * by waiting. Reports still reach the collector.
 */
export class Cable implements Way {
  readonly advertisedPort = null;
  readonly #pair: VethPair;

  /** @throws PairRefused where no namespaces can be made */
  constructor() {
    this.#pair = new VethPair({ outside: true });
  }

  get listenAddress(): string {
    return this.#pair.left.ipv4;
  }

  get reportsAddress(): string {
    return this.#pair.right.ipv4;
  }

  leadTo(port: number): string {
    return `${this.#pair.left.ipv4}:${port}`;
  }

  at(program: readonly string[]): readonly string[] {
    return ['ip', 'netns', 'exec', this.#pair.right.namespace, ...program];
  }

  cut(): void {
    this.#sendTo(NOBODY);
  }

  mend(): void {
    this.#sendTo(this.#pair.left.mac);
  }

  /** Where the collector's frames for the broker go. */
  #sendTo(mac: string): void {
    const { left, right } = this.#pair;
    this.#pair.ip(right, 'neighbour', 'replace', left.ipv4, 'lladdr', mac, 'dev', right.interface, 'nud', 'permanent');
  }

  close(): Promise<void> {
    this.#pair.remove();
    return Promise.resolve();
  }
}
