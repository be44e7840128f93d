import type { DecodeOptions, Domains, LinkLayer, Profile } from '../options.js';
import { LINK_TYPES, PROFILES } from '../options.js';
import { LAYOUT } from '../plan.js';

/** VXLAN-GPE next protocols of INT 0.5, 1.0, 2.0 and 2.1 (none was final). */
export const GPE_INT_PROTOCOLS: readonly number[] = [0x05, 0x08, 0x80, 0x82];
/** Geneve option classes: that of the specification's examples, and the registered one. */
export const GENEVE_INT_CLASSES: readonly number[] = [0x00ab, 0x0103];

export const DEFAULT_INT_PORTS: readonly number[] = [5000, 4096];
export const DEFAULT_INT_DSCP = { value: 0x17, mask: 0x3f } as const;
export const DEFAULT_GRE_PROTOCOL = 0x88b5;
export const DEFAULT_PROBE_PORTS: readonly number[] = [5017, 5018];
/** UDP ports: VXLAN-GPE (IANA), Geneve (IANA), IntMon, int-afxdp-kafka. */
export const VXLAN_GPE_PORT = 4790;
export const GENEVE_PORT = 6081;
export const INTMON_PORT = 54321;
export const KAFKA_XDP_PORT = 4321;

/** {@link DecodeOptions}, checked and in the form that the scanner needs. */
export interface Settings {
  readonly linkType: LinkLayer;
  readonly intPorts: readonly number[];
  /** -1: no DSCP marks INT. */
  readonly dscpValue: number;
  readonly dscpMask: number;
  readonly greProtocol: number;
  readonly markerSet: boolean;
  readonly markerHigh: number;
  readonly markerLow: number;
  readonly reportPorts: readonly number[] | null;
  readonly probePort: number;
  readonly extendedProbePort: number;
  readonly profile: Profile;
  /** INTCollector and GEANT's generator: report v1.0 with Length 1, one word for every instruction. */
  readonly oneWord: boolean;
  /** Layout of v1.0 stacks. */
  readonly layout10: number;
  readonly elhnoah: boolean;
  readonly intmon: boolean;
  readonly kafkaXdp: boolean;
  readonly domains: Domains;
  readonly verifyChecksums: boolean;
}

/** Layouts of the v1.0 stacks of dialects. */
const LAYOUT10: Readonly<Partial<Record<Profile, number>>> = {
  intcollector: LAYOUT.ONE_WORD,
  'geant-generator': LAYOUT.ONE_WORD,
  'geant-v10-ts64': LAYOUT.GEANT_TS64,
  'geant-nibble3': LAYOUT.GEANT_NIBBLE3,
};

function checkPort(port: number, what: string): number {
  if (!Number.isInteger(port) || port < 0 || port > 0xffff) throw new RangeError(`${what}: ${port} is not a port`);
  return port;
}

function checkDomains(domains: Domains): Domains {
  for (const [id, items] of Object.entries(domains)) {
    for (const [bit, item] of Object.entries(items)) {
      if (!(Number(bit) >= 0 && Number(bit) <= 15)) throw new RangeError(`domain ${id}: bit ${bit} is not 0 to 15`);
      if (!(item.bytes >= 0 && item.bytes % 4 === 0 && item.bytes <= 1020)) {
        throw new RangeError(`domain ${id} bit ${bit}: ${item.bytes} bytes is not a multiple of 4 up to 1020`);
      }
    }
  }
  return domains;
}

/**
 * Checks options and fills in defaults.
 * @throws RangeError for a value out of range or an unknown name
 */
export function settingsOf(options: DecodeOptions = {}): Settings {
  const profile = options.profile ?? 'spec';
  if (!PROFILES.includes(profile)) throw new RangeError(`unknown profile ${profile}; one of ${PROFILES.join(', ')}`);
  const layout10 = LAYOUT10[profile] ?? LAYOUT.V10;
  const linkType = options.linkType ?? 'ethernet';
  if (!LINK_TYPES.includes(linkType))
    throw new RangeError(`unknown link type ${linkType}; one of ${LINK_TYPES.join(', ')}`);
  const dscp = options.intDscp === undefined ? DEFAULT_INT_DSCP : options.intDscp;
  if (dscp !== null && !(dscp.value >= 0 && dscp.value <= 63 && dscp.mask >= 0 && dscp.mask <= 63)) {
    throw new RangeError('intDscp: value and mask are 6 bits');
  }
  const marker = options.probeMarker ?? null;
  if (marker !== null && (marker < 0n || marker >> 64n !== 0n)) throw new RangeError('probeMarker: 64 bits');
  const probePorts = options.probePorts ?? DEFAULT_PROBE_PORTS;
  return {
    linkType,
    intPorts: (options.intPorts ?? DEFAULT_INT_PORTS).map((port) => checkPort(port, 'intPorts')),
    dscpValue: dscp === null ? -1 : dscp.value & dscp.mask,
    dscpMask: dscp === null ? 0 : dscp.mask,
    greProtocol: checkPort(options.greProtocol ?? DEFAULT_GRE_PROTOCOL, 'greProtocol'),
    markerSet: marker !== null,
    markerHigh: marker === null ? 0 : Number(marker >> 32n),
    markerLow: marker === null ? 0 : Number(marker & 0xffffffffn),
    reportPorts: options.reportPorts?.map((port) => checkPort(port, 'reportPorts')) ?? null,
    probePort: probePorts[0] === undefined ? -1 : checkPort(probePorts[0], 'probePorts'),
    extendedProbePort: probePorts[1] === undefined ? -1 : checkPort(probePorts[1], 'probePorts'),
    profile,
    oneWord: layout10 === LAYOUT.ONE_WORD,
    layout10,
    elhnoah: profile === 'elhnoah-md-report',
    intmon: profile === 'intmon',
    kafkaXdp: profile === 'int-afxdp-kafka',
    domains: checkDomains(options.domains ?? {}),
    verifyChecksums: options.verifyChecksums ?? false,
  };
}
