/** The P4Runtime server of switches on the command line. */
import { isIPv6 } from 'node:net';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { DeviceOptions, DeviceStatistics, P4RuntimeServer, RefusedClients, TlsOptions } from '@int/p4runtime';
import type { ForwardingLoop } from '@int/p4switch';
import type { Command } from 'commander';
import { readRegular } from '../../input/text-file.js';
import { CliError, EXIT, type Io } from '../../io.js';
import { type MetricsAddress, metricsAddress } from '../../output/metrics-endpoint.js';
import { printable } from '../../output/printable.js';
import type { LimitFlags } from '../limits.js';
import type { ReadDevice } from './device-files.js';
import { SwitchHost } from './machine-host.js';
import type { ServedSwitch } from './served-switch.js';

export interface ControlFlags {
  readonly listen?: MetricsAddress;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
}

const CERTIFICATE = { name: 'certificate or key', mostBytes: 1 << 20 } as const;

/** Adds the options of the server. */
export function addControlOptions(command: Command): Command {
  return command
    .option('--listen <HOST:PORT>', 'serve P4Runtime there; the usual port is 9559', metricsAddress)
    .option('--tls-cert <FILE>', "with --listen: the server's certificate (PEM), for TLS")
    .option('--tls-key <FILE>', 'its key (PEM)')
    .option('--tls-ca <FILE>', "the issuer of clients' certificates (PEM): clients without one are refused");
}

/** Ends with an error if options do not go together. */
export function checkControlOptions({ listen, tlsCert, tlsKey, tlsCa }: ControlFlags, command: Command): void {
  const isSecure = tlsCert !== undefined || tlsKey !== undefined || tlsCa !== undefined;
  if (isSecure && listen === undefined) command.error('error: --tls-cert, --tls-key and --tls-ca go with --listen');
  if (isSecure && (tlsCert === undefined || tlsKey === undefined)) {
    command.error('error: TLS needs both --tls-cert and --tls-key');
  }
}

async function readTls({ tlsCert, tlsKey, tlsCa }: ControlFlags, io: Io): Promise<TlsOptions | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const read = (path: string): Promise<Buffer> => readRegular(path, CERTIFICATE, io.signal);
  const [cert, key, clientCa] = [await read(tlsCert), await read(tlsKey), tlsCa && (await read(tlsCa))];
  // Each alone first: which file is wrong is seen in no message of OpenSSL.
  usable({ cert }, `${tlsCert} is no certificate`);
  usable({ key }, `${tlsKey} is no key without a passphrase`);
  usable({ cert, key }, `${tlsKey} is not the key of ${tlsCert}`);
  if (!clientCa) return { cert, key };
  usable({ ca: clientCa }, `${tlsCa} has no certificate`);
  return { cert, key, clientCa };
}

function usable(part: SecureContextOptions, wrong: string): void {
  try {
    createSecureContext(part);
  } catch (error) {
    throw new CliError(`${wrong}: ${(error as Error).message}`, EXIT.INPUT, error);
  }
}

/** A switch, and the program that it begins with. */
export interface ControlledSwitch {
  readonly served: ServedSwitch;
  readonly device: ReadDevice | null;
}

/** Shortest time between two messages about faults, in milliseconds: a client may cause one with each request. */
const FAULT_MS = 1000;

/** Tells of faults of the server, which should not happen. */
function faultTeller(tell: (message: string) => void): (error: unknown) => void {
  let before = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (error) => {
    untold++;
    const now = performance.now();
    if (now - before < FAULT_MS) return;
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const more = untold > 1 ? ` (the last of ${untold})` : '';
    tell(`fault of the P4Runtime server: ${printable(text.slice(0, 300))}${more}`);
    before = now;
    untold = 0;
  };
}

/** Counts of the server, of all switches together. */
export interface ControlCounts {
  /** Open streams of controllers. */
  readonly streams: number;
  /** Errors that were no answers to clients. */
  readonly faults: number;
  /** Clients that were turned away, by reason. */
  readonly refused: Readonly<RefusedClients>;
}

/** Controllers program switches by it. Initial programs are put to work when it is made. */
export class ControlServer {
  readonly #server: P4RuntimeServer;
  readonly #flags: ControlFlags;
  readonly #io: Io;

  private constructor(server: P4RuntimeServer, flags: ControlFlags, io: Io) {
    this.#server = server;
    this.#flags = flags;
    this.#io = io;
  }

  /**
   * @param loop runs the switches
   * @param limits of the programs that controllers send
   * @param tell prints a message
   * @throws CliError (rejects) if a program cannot be described or put to work
   */
  static async make(
    switches: readonly ControlledSwitch[],
    loop: Pick<ForwardingLoop, 'wake' | 'meanwhile'>,
    limits: LimitFlags | undefined,
    flags: ControlFlags,
    io: Io,
    tell: (message: string) => void,
  ): Promise<ControlServer> {
    const { P4InfoError, P4RuntimeServer, P4vmTarget, p4infoOf, TargetError } = await import('@int/p4runtime');
    const { writeDeviceProgram } = await import('@int/p4runtime/internals');
    try {
      const devices = switches.map(({ served, device }): DeviceOptions => {
        const target = new P4vmTarget({
          host: new SwitchHost(served.core, loop),
          ...(limits !== undefined && { limits }),
        });
        if (device === null) return { deviceId: served.deviceId, target };
        const pipeline = { p4info: p4infoOf(device.program), deviceConfig: writeDeviceProgram(device.device) };
        return { deviceId: served.deviceId, target, pipeline };
      });
      return new ControlServer(new P4RuntimeServer({ devices, onFault: faultTeller(tell) }), flags, io);
    } catch (error) {
      if (P4InfoError.is(error) || TargetError.is(error)) throw new CliError(error.message, EXIT.INPUT, error);
      throw error;
    }
  }

  /** What it has counted so far. */
  counts(): ControlCounts {
    const { streams, faults, refused } = this.#server;
    return { streams, faults, refused };
  }

  /** Counts of a switch; undefined if it is not served. */
  countsOf(deviceId: bigint): DeviceStatistics | undefined {
    return this.#server.statistics(deviceId);
  }

  /** Listens. @returns a text for the user @throws CliError (rejects) if that is not possible */
  async listen(): Promise<string> {
    const { host, port } = this.#flags.listen!;
    const name = (address: string): string => (isIPv6(address) ? `[${address}]` : address);
    const tls = await readTls(this.#flags, this.#io);
    try {
      const bound = await this.#server.listen({ host, port, ...(tls !== undefined && { tls }) });
      const way = tls === undefined ? '' : tls.clientCa === undefined ? ' with TLS' : ' with mutual TLS';
      return `P4Runtime at ${name(bound.host)}:${bound.port}${way}`;
    } catch (error) {
      throw new CliError(`cannot listen on ${name(host)}:${port}: ${(error as Error).message}`, EXIT.OPEN, error);
    }
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
