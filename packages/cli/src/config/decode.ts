import type { DecodeFlags } from '../options.js';
import type { DecodeConfig } from './config.js';

/** Converts the configuration to the command line's decode options. */
export function decodeFlagsOf(config: DecodeConfig): DecodeFlags {
  const { intPorts, intDscp, greProtocol, probeMarker, reportPorts, probePorts, profile } = config;
  const [value = '', mask] = intDscp?.split('/') ?? [];
  return {
    ...(intPorts !== undefined && { intPort: intPorts }),
    ...(intDscp !== undefined && { intDscp: { value: Number(value), mask: mask === undefined ? 0x3f : Number(mask) } }),
    ...(greProtocol !== undefined && { greProtocol }),
    ...(probeMarker !== undefined && { probeMarker: BigInt(`0x${probeMarker.replace(/^0[xX]/, '')}`) }),
    ...(reportPorts !== undefined && { reportPort: reportPorts }),
    ...(probePorts !== undefined && { probePort: probePorts }),
    ...(profile !== undefined && { profile }),
  };
}
