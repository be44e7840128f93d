import type { Incidents } from '../incident/incidents.js';
import { writeIpv4 } from '../table/address.js';
import { Targets } from './targets.js';

/** What first contacts that failed were aimed at: hosts, and services of many hosts. */
export class FailedTargets {
  readonly #byHost: Targets;
  readonly #byService: Targets;
  readonly #service = new Uint32Array(4);

  static readonly BYTES: number = 2 * Targets.BYTES;

  constructor(incidents: Incidents) {
    this.#byHost = new Targets('ports', incidents, (row, table) => {
      const destination = table.text(row);
      return { entity: `host:${destination}`, match: { destination } };
    });
    this.#byService = new Targets('hosts', incidents, (row, table) => {
      // The address that stands for a service: 0.PROTOCOL.PORT.PORT.
      const [, protocol = 0, high = 0, low = 0] = table.text(row).split('.').map(Number);
      const port = 256 * high + low;
      return { entity: `service:${protocol}/${port}`, match: { protocol: String(protocol), port: String(port) } };
    });
  }

  get evicted(): number {
    return this.#byHost.evicted + this.#byService.evicted;
  }

  /**
   * @param words both addresses
   * @param service port, and protocol << 16
   * @param source a hash of the source
   * @param destination a hash of the destination
   * @param isInside whether the destination is of the own network
   */
  failure(
    words: Uint32Array,
    service: number,
    source: number,
    destination: number,
    isInside: boolean,
    timeMs: number,
  ): void {
    this.#byHost.failure(words, 4, service, source, timeMs);
    // Of hosts outside some are down at any time, and all that ask for them would be scanners together.
    if (!isInside) return;
    writeIpv4(service & 0xffffff, this.#service, 0);
    this.#byService.failure(this.#service, 0, destination, source, timeMs);
  }
}
