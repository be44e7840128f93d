/** The effects of decode options on generators. */
import type { DecodeOptions, Domains, EncodeOptions, Profile } from '@int/codec';
import type { BlockLayout } from './layout.js';

/**
 * UDP ports of VXLAN-GPE, Geneve, IntMon and int-afxdp-kafka: the decoder would search plain packets to them for INT.
 */
const PORTS_LOOKED_INTO: readonly number[] = [4790, 6081, 54321, 4321];

/** Decode options in a form for the generators. */
export interface Context {
  readonly options: DecodeOptions;
  readonly profile: Profile;
  readonly domains: Domains;
  /** A UDP port marks INT. `byDscp`: a DSCP marks INT. */
  readonly byPort: boolean;
  readonly byDscp: boolean;
  /** UDP ports of GPINT probes, plain and extended. */
  readonly probePorts: readonly number[];
  /** The port marks reports, so their contents need not prove it. */
  readonly marked: boolean;
  readonly layout10: BlockLayout;
  /** Only INT v1.0 inside reports v1.0. */
  readonly oneWord: boolean;
  /** UDP destination ports that a packet without INT cannot have. */
  readonly notPlain: readonly number[];
  /** UDP destination ports that take precedence over DSCP. */
  readonly beforeDscp: readonly number[];
}

const LAYOUT10: Partial<Record<Profile, BlockLayout>> = {
  intcollector: 'one-word',
  'geant-generator': 'one-word',
  'geant-v10-ts64': 'wide',
  'geant-nibble3': 'nibble3',
};

/** @throws RangeError if `options.intDscp` marks packets of DSCP 0, which generated packets without INT have */
export function contextOf(options: DecodeOptions): Context {
  const { profile = 'spec', domains = {}, intPorts = [5000, 4096], probePorts = [5017, 5018] } = options;
  const { intDscp = { value: 0x17, mask: 0x3f }, reportPorts = null } = options;
  if (intDscp !== null && (intDscp.value & intDscp.mask) === 0) {
    throw new RangeError('intDscp: DSCP 0 cannot mark INT here, since packets without INT have it');
  }
  const beforeDscp = [...probePorts, ...(reportPorts ?? []), ...PORTS_LOOKED_INTO];
  return {
    options,
    profile,
    domains,
    byPort: intPorts.length > 0,
    byDscp: intDscp !== null,
    probePorts,
    marked: reportPorts !== null || options.linkType === 'report',
    layout10: LAYOUT10[profile] ?? '1.0',
    oneWord: LAYOUT10[profile] === 'one-word',
    notPlain: [...intPorts, ...beforeDscp],
    beforeDscp,
  };
}

/**
 * The encode options for decode options: the markings, ports, domains and profile that the decoder expects.
 * @throws RangeError if `options.intDscp` marks packets of DSCP 0
 */
export function encodeOptionsFor(options: DecodeOptions): EncodeOptions {
  contextOf(options);
  const { intPorts, intDscp, reportPorts, greProtocol, domains, profile } = options;
  return {
    ...(intPorts?.[0] === undefined ? {} : { intPorts }),
    ...(intDscp == null ? {} : { intDscp: intDscp.value & intDscp.mask }),
    ...(reportPorts?.[0] === undefined ? {} : { reportPort: reportPorts[0] }),
    ...(greProtocol === undefined ? {} : { greProtocol }),
    ...(domains === undefined ? {} : { domains }),
    ...(profile === undefined ? {} : { profile }),
  };
}
