/** What marks reports and INT, in the form that the fast path asks for it. */
import { GENEVE_PORT, INTMON_PORT, type Settings, VXLAN_GPE_PORT } from '../scan/settings.js';

/** What a UDP destination port says, as bits. */
export const PORT = {
  /** Reports are sent there. */
  REPORT: 1,
  /** It marks INT in the packet. */
  INT: 2,
  /** What follows is for the general rules: a tunnel, or a probe. */
  GENERAL: 4,
} as const;

const VXLAN_PORT = 4789;

/** What marks a report and an INT packet, see {@link marksOf}. */
export interface ReportMarks {
  /** Frames are Ethernet; else they are UDP payloads. */
  readonly isEthernet: boolean;
  /** Reports may come to any port. */
  readonly isAnyPort: boolean;
  /** Set of {@link PORT} for each UDP destination port. */
  readonly ports: Uint8Array;
  /** Mask and value over the whole TOS byte of INT packets. Without a DSCP that marks INT 0 and 1: no byte fits. */
  readonly tosMask: number;
  readonly tosValue: number;
}

/** The marks of settings, or `null` if the fast path cannot serve these settings. */
export function marksOf(settings: Settings): ReportMarks | null {
  const { linkType, reportPorts, intPorts, dscpValue, dscpMask, probePort, extendedProbePort } = settings;
  if (settings.profile !== 'spec' || settings.markerSet || settings.verifyChecksums) return null;
  if (linkType !== 'report' && linkType !== 'ethernet') return null;
  const ports = new Uint8Array(0x10000);
  for (const port of reportPorts ?? []) ports[port]! |= PORT.REPORT;
  for (const port of intPorts) ports[port]! |= PORT.INT;
  const general = [GENEVE_PORT, VXLAN_GPE_PORT, VXLAN_PORT, INTMON_PORT, probePort, extendedProbePort];
  for (const port of general) if (port >= 0) ports[port]! |= PORT.GENERAL;
  return {
    isEthernet: linkType === 'ethernet',
    isAnyPort: reportPorts === null,
    ports,
    tosMask: dscpValue < 0 ? 0 : dscpMask << 2,
    tosValue: dscpValue < 0 ? 1 : dscpValue << 2,
  };
}
