import type { XdpProgram, XdpSocket, XdpSocketOptions } from '@int/afxdp';
import { SourceError } from '@int/collector';
import { CliError, EXIT } from '../io.js';
import type { BridgePorts, OpenPortsOptions } from './frame-port.js';

/** Frames to receive into, and to send from, for each queue. */
const FRAMES = 4096;
/** Room for a frame: 3840 bytes of it, so that an MTU of up to 3800 bytes needs no thought. */
const FRAME_BYTES = 4096;

type Afxdp = typeof import('@int/afxdp');

/** @throws CliError if the package is not installed */
async function loadAfxdp(): Promise<Afxdp> {
  try {
    return await import('@int/afxdp');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!/MODULE_NOT_FOUND/.test(code)) throw error;
    throw new CliError('int bridge needs the package @int/afxdp: npm install @int/afxdp', EXIT.OPEN, error);
  }
}

/** One side that is being opened. */
interface Side {
  readonly name: string;
  readonly queues: number;
  readonly receives: boolean;
}

/**
 * Opens both interfaces: a socket for each queue, and on each interface that is received from a program that hands all
 * frames to them. All frames lie in one memory, so that they are copied from one interface to the other without a view.
 *
 * @throws SourceError that names the interface, CliError if the package is not installed
 */
export async function openXdpPorts(options: OpenPortsOptions): Promise<BridgePorts> {
  const afxdp = await loadAfxdp();
  const programs: XdpProgram[] = [];
  const opened: XdpSocket[] = [];
  const detach = (): void => {
    while (programs.length > 0) programs.pop()!.close();
  };
  const close = (): void => {
    detach();
    while (opened.length > 0) opened.pop()!.close();
  };
  try {
    const queues = (name: string): number => naming(afxdp, name, () => afxdp.queueCount(name));
    const inner: Side = { name: options.inner, queues: queues(options.inner), receives: true };
    const outer: Side = { name: options.outer, queues: queues(options.outer), receives: !options.isOneWay };
    const sizes = { frames: FRAMES, txFrames: FRAMES, frameSize: FRAME_BYTES } as const;
    const portBytes = afxdp.umemBytes(sizes);
    const memory = new Uint8Array(portBytes * (inner.queues + outer.queues));
    let used = 0;
    const openSide = async (side: Side): Promise<XdpSocket[]> => {
      const { name } = side;
      const mode = options.mode;
      let program: XdpProgram | null = null;
      if (side.receives) {
        program = naming(afxdp, name, () => afxdp.XdpProgram.steer({ interface: name, mode, ports: 'all' }));
        programs.push(program);
      }
      const sockets: XdpSocket[] = [];
      for (let queue = 0; queue < side.queues; queue++) {
        const socketOptions: XdpSocketOptions = {
          ...sizes,
          interface: name,
          queue,
          promiscuous: side.receives,
          memory: memory.subarray(used, used + portBytes),
          ...(program === null ? { mode, ports: [] } : { program }),
        };
        used += portBytes;
        try {
          const socket = await afxdp.XdpSocket.open(socketOptions);
          opened.push(socket);
          sockets.push(socket);
        } catch (error) {
          throw named(afxdp, name, error);
        }
      }
      return sockets;
    };
    const [outerSockets, innerSockets] = [await openSide(outer), await openSide(inner)];
    return {
      inner: innerSockets,
      outer: outerSockets,
      rows: (capacity) => new afxdp.XdpBatch(capacity),
      detach,
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

function naming<T>(afxdp: Afxdp, name: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw named(afxdp, name, error);
  }
}

function named(afxdp: Afxdp, name: string, error: unknown): unknown {
  return afxdp.XdpError.is(error) ? new SourceError('ERR_SOURCE_OPEN', name, error.message, error) : error;
}
