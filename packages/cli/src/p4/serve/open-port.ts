import { isIPv6 } from 'node:net';
import { kernelDrops } from '@int/collector/internals';
import { CapturePort, type FramePayload, type Port, PortError, UdpPort, type UdpPortAddress } from '@int/p4switch';
import { CliError, EXIT } from '../../io.js';
import { UdpPayload } from '../../replay/udp-payload.js';
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
      case 'reports':
        return await reportsPort(spec.remote);
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

/** The payloads of UDP packets within frames. */
class FrameReports implements FramePayload {
  readonly #payload = new UdpPayload();

  get offset(): number {
    return this.#payload.offset;
  }

  get length(): number {
    return this.#payload.length;
  }

  find(bytes: Uint8Array, start: number, end: number): boolean {
    return this.#payload.find(bytes, start, end, 'ethernet') === null;
  }
}

/** Reports come to a collector as from a switch with a network stack: as datagrams of this machine. */
function reportsPort(remote: UdpPortAddress): Promise<Port> {
  const isLong = isIPv6(remote.host);
  const local = { host: isLong ? '::' : '0.0.0.0', port: 0 };
  const name = `reports:${isLong ? `[${remote.host}]` : remote.host}:${remote.port}`;
  return UdpPort.open({ name, local, remote, payload: new FrameReports() });
}
