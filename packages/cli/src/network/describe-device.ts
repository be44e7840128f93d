/** The device profile in force, as `int collect --check` tells it. */
import { DEFAULT_GRE_PROTOCOL, DEFAULT_INT_DSCP, DEFAULT_INT_PORTS, DEFAULT_PROBE_PORTS } from '@int/codec/internals';
import type { DeviceProfile } from '@int/network';

const hex = (value: number): string => `0x${value.toString(16)}`;

/** Units, and how packets are decoded: with the defaults, where nothing was said. */
export function deviceJson(device: DeviceProfile): Record<string, unknown> {
  const { profile, intPorts, intDscp, reportPorts, probePorts, greProtocol, probeMarker } = device.decode;
  return {
    units: device.units(),
    profile: profile ?? 'spec',
    intPorts: intPorts ?? DEFAULT_INT_PORTS,
    intDscp: intDscp === null ? null : dscpText(intDscp ?? DEFAULT_INT_DSCP),
    reportPorts: reportPorts ?? null,
    probePorts: probePorts ?? DEFAULT_PROBE_PORTS,
    greProtocol: greProtocol ?? DEFAULT_GRE_PROTOCOL,
    probeMarker: probeMarker == null ? null : probeMarker.toString(16).padStart(16, '0'),
    sources: device.sources?.map(({ text }) => text) ?? null,
  };
}

const dscpText = ({ value, mask }: { readonly value: number; readonly mask: number }): string =>
  mask === 0x3f ? hex(value) : `${hex(value)}/${hex(mask)}`;

/** Lines for people. */
export function deviceLines(device: DeviceProfile): string[] {
  const { decode, sources } = device;
  const {
    profile = 'spec',
    intPorts = DEFAULT_INT_PORTS,
    intDscp = DEFAULT_INT_DSCP,
    reportPorts,
    probeMarker,
  } = decode;
  const marks = [
    `UDP port ${intPorts.join(', ')}`,
    intDscp === null ? 'no DSCP' : `DSCP ${dscpText(intDscp)}`,
    ...(probeMarker == null ? [] : [`marker ${probeMarker.toString(16).padStart(16, '0')}`]),
  ];
  const reports = reportPorts == null ? 'any UDP port' : `UDP port ${reportPorts.join(', ')}`;
  return [
    ...unitLines(device),
    `decode: profile ${profile}; INT by ${marks.join(' and ')}; reports at ${reports}`,
    `senders: ${sources === null ? 'anybody' : sources.map(({ text }) => text).join(', ')}`,
  ];
}

function unitLines(device: DeviceProfile): string[] {
  const { switches, ...usual } = device.units();
  const text = (units: Readonly<Record<string, { readonly text: string } | null>>): string =>
    Object.entries(units)
      .map(([name, unit]) => `${name} ${unit === null ? 'without unit' : `in ${unit.text}`}`)
      .join(', ');
  return [
    `units: ${text(usual)}`,
    ...switches.map(({ from, to, units }) => `units of switch ${from === to ? from : `${from}-${to}`}: ${text(units)}`),
  ];
}
