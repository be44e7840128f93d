import { kernelDrops } from '@int/collector/internals';
import { CapturePort, type Port, PortError, UdpPort } from '@int/p4switch';
import { CliError, EXIT } from '../../io.js';
import { InterfacePort, type PortMode } from './interface-port.js';
import type { PortSpec } from './port-spec.js';

export interface OpenPortOptions {
  readonly mode: PortMode;
  /** Pace of captures. */
  readonly speed: number;
  /** Prints a message for the user. */
  readonly tell: (message: string) => void;
  /** Called with an error that ends the command. */
  readonly onFault: (error: unknown) => void;
}

/** Opens a port. @throws CliError (rejects) */
export async function openPort(spec: PortSpec, options: OpenPortOptions): Promise<Port> {
  const { mode, speed, tell, onFault } = options;
  try {
    switch (spec.kind) {
      case 'xdp':
      case 'packet':
        return await InterfacePort.open(spec, mode, tell, onFault);
      case 'udp':
        return await UdpPort.open({ local: spec.local, remote: spec.remote, kernelDrops });
      case 'pcap':
        return await CapturePort.open({
          input: spec.input,
          output: spec.output,
          speed,
          onEnd: (damage) => {
            if (damage !== null) tell(`${spec.input}: ${damage.message}`);
          },
        });
    }
  } catch (error) {
    if (PortError.is(error)) throw new CliError(error.message, EXIT.OPEN, error);
    throw error;
  }
}
