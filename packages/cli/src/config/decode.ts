import { given, ifGiven } from '../given.js';
import type { DecodeFlags } from '../options.js';
import type { DecodeConfig } from './config.js';

export function decodeFlagsOf(config: DecodeConfig): DecodeFlags {
  const { intPorts, intDscp, greProtocol, probeMarker, reportPorts, probePorts, profile } = config;
  return given({
    intPort: intPorts,
    intDscp: ifGiven(intDscp, (text) => {
      const [value, mask = 0x3f] = text.split('/').map(Number);
      return { value: value!, mask };
    }),
    greProtocol,
    probeMarker: ifGiven(probeMarker, (text) => BigInt(`0x${text.replace(/^0[xX]/, '')}`)),
    reportPort: reportPorts,
    probePort: probePorts,
    profile,
  });
}
