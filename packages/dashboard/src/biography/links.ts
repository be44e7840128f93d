/** Times on the links of a path, from the timestamps of the switches at their ends. */
import { HopView } from '@int/codec';
import type { DeviceProfile } from '@int/network';
import type { Biography } from '../protocol/http.js';
import { hopRowsOf, nanosecondsPer, type ReportAt, switchOf } from './report-at.js';

/** A link takes less than this; more says that the clocks of its ends differ. Ten times around the earth. */
const LONGEST_NS = 1_340_000_000;
const MOD_32 = 1n << 32n;

/** @param nameOf a switch for people */
export function linksOf(
  report: ReportAt,
  device: DeviceProfile,
  nameOf: (switchId: number) => string,
): Biography['links'] {
  const rows = hopRowsOf(report);
  return rows.slice(1).flatMap((toRow, k) => {
    const fromRow = rows[k]!;
    const [from, to] = [switchOf(report, fromRow), switchOf(report, toRow)];
    // A node's own values beside its last hop are of the same switch: there is no link.
    if (from === null || to === null || from === to) return [];
    const left = new HopView(report.batch, fromRow).egressTimestamp;
    const came = new HopView(report.batch, toRow).ingressTimestamp;
    if (left === null) return [{ from, to, timeNs: null, doubt: `${nameOf(from)} gave no egress timestamp` }];
    if (came === null) return [{ from, to, timeNs: null, doubt: `${nameOf(to)} gave no ingress timestamp` }];
    const units = [from, to].map((id) => nanosecondsPer(device.unit('timestamps', id)));
    const [fromPer, toPer] = units;
    if (fromPer === null || fromPer === undefined || toPer === null || toPer === undefined) {
      return [{ from, to, timeNs: null, doubt: 'the unit of timestamps is not known: give a device profile' }];
    }
    const timeNs =
      fromPer === toPer ? Number(difference(came, left)) * fromPer : Number(came) * toPer - Number(left) * fromPer;
    return [{ from, to, ...judged(timeNs, nameOf(from), nameOf(to)) }];
  });
}

/** Timestamps before INT 2.0 have 32 bits, which pass their end every few seconds. */
function difference(came: bigint, left: bigint): bigint {
  if (came >= MOD_32 || left >= MOD_32) return came - left;
  const apart = (((came - left) % MOD_32) + MOD_32) % MOD_32;
  return apart > MOD_32 / 2n ? apart - MOD_32 : apart;
}

function judged(timeNs: number, from: string, to: string): { timeNs: number | null; doubt: string | null } {
  if (timeNs < 0)
    return { timeNs: null, doubt: `the clock of ${to} is behind that of ${from} by at least ${-timeNs} ns` };
  if (timeNs > LONGEST_NS) return { timeNs: null, doubt: `${timeNs} ns are too many for a link: the clocks differ` };
  return { timeNs, doubt: null };
}
