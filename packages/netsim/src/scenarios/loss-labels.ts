/** The true losses of reports on their way to the monitor, from both ends of each switch's link. */
import { reportV20Group } from '@int/codec';
import { udpPayload } from '../frames.js';
import type { Fabric } from './fabric.js';
import type { Label } from './label.js';

/** Losses of one reporter that are further apart get separate labels. */
const APART_NS = 500_000_000;

interface Sent {
  readonly timeNs: number;
  readonly nodeId: number;
  readonly hwId: number;
}

/** Follows the reports of a fabric. It observes links and changes nothing. */
export class ReportWatch {
  /** Reports sent that have not arrived, in the order of sending. */
  readonly #missing = new Map<Uint8Array, Sent>();

  constructor(fabric: Fabric) {
    const { network } = fabric;
    for (const link of fabric.monitorLinks) {
      const sent = (frame: Uint8Array, timeNs: number): void => {
        const payload = udpPayload(frame);
        if (payload === null) return;
        const { nodeId, hwId } = reportV20Group.decode(payload);
        this.#missing.set(frame, { timeNs, nodeId, hwId });
      };
      network.tap(link, 'ab', sent, { where: 'in' });
      network.tap(link, 'ab', (frame) => void this.#missing.delete(frame));
    }
  }

  /** A label for each run of losses of a reporter. Call it when no report is in transit. */
  labels(): Label[] {
    const runs = new Map<string, { nodeId: number; hwId: number; fromNs: number; toNs: number; lost: number }[]>();
    for (const { timeNs, nodeId, hwId } of this.#missing.values()) {
      const key = `${nodeId} ${hwId}`;
      const list = runs.get(key) ?? [];
      runs.set(key, list);
      const last = list.at(-1);
      if (last !== undefined && timeNs - last.toNs <= APART_NS) {
        last.toNs = timeNs;
        last.lost++;
      } else {
        list.push({ nodeId, hwId, fromNs: timeNs, toNs: timeNs, lost: 1 });
      }
    }
    return [...runs.values()].flat().map((run) => ({ kind: 'reportLoss', ...run }));
  }
}
