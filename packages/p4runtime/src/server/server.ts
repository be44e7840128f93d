import { once } from 'node:events';
import { createSecureServer, createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createRouterTransport, type Transport } from '@connectrpc/connect';
import { Device, type DeviceOptions, type DeviceStatistics } from './device.js';
import { requestHandler } from './http2-handler.js';
import { type P4RuntimeLimits, withDefaultLimits } from './limits.js';
import { P4RuntimeService } from './service.js';

/** Certificates, as PEM. */
export interface TlsOptions {
  /** The server's private key. */
  readonly key: string | Uint8Array;
  /** The server's certificate, with those of its issuers. */
  readonly cert: string | Uint8Array;
  /** Issuers of clients' certificates. If given, a client without a valid certificate is refused. */
  readonly clientCa?: string | Uint8Array;
}

export interface P4RuntimeServerOptions {
  readonly devices: readonly DeviceOptions[];
  readonly limits?: Partial<P4RuntimeLimits>;
  /**
   * Called with each error that is no answer to a client: a fault of the server, or of a target. The client gets INTERNAL without
   * its text. It must not throw. Default: faults are counted only.
   */
  readonly onFault?: (error: unknown) => void;
}

export interface ListenOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 9559, the port of P4Runtime; 0: any free port. */
  readonly port?: number;
  /** Absent: without encryption, and everyone who reaches the port controls the devices. */
  readonly tls?: TlsOptions;
}

/** Clients that were turned away, by reason. */
export interface RefusedClients {
  /** Beyond the limit of connections. */
  connections: number;
  /** TLS came to no agreement: no certificate, a wrong one, or no TLS at all. */
  handshakes: number;
  /** Beyond the limit of streams. */
  streams: number;
}

/** Milliseconds that requests in flight may take once the server closes. */
const CLOSE_MS = 2000;
/** Bytes that a client may send ahead in one stream and in one connection. */
const STREAM_WINDOW = 256 * 1024;
const CONNECTION_WINDOW = 1024 * 1024;

/**
 * A P4Runtime 1.5 server (gRPC over HTTP/2) for one or more devices. It serves any number of ports, and clients in the
 * same process without a port.
 */
export class P4RuntimeServer {
  readonly limits: P4RuntimeLimits;
  readonly #devices = new Map<bigint, Device>();
  readonly #service: P4RuntimeService;
  readonly #servers = new Set<Http2Server>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #handle: ReturnType<typeof requestHandler>;
  #isClosed = false;
  #faults = 0;
  readonly #refused = { connections: 0, handshakes: 0 };

  /**
   * @throws TypeError for two devices with one id, or a first pipeline with wrong P4Info; RangeError for ids or limits
   *   out of range; TargetError if a target cannot realise its first pipeline
   */
  constructor({ devices, limits, onFault }: P4RuntimeServerOptions) {
    this.limits = withDefaultLimits(limits);
    const fault = (error: unknown): void => {
      this.#faults++;
      onFault?.(error);
    };
    for (const options of devices) {
      const device = new Device(options, this.limits, fault);
      if (this.#devices.has(device.id)) throw new TypeError(`two devices have id ${device.id}`);
      this.#devices.set(device.id, device);
    }
    this.#service = new P4RuntimeService(this.#devices, this.limits, fault);
    this.#handle = requestHandler(this.#service.routes, this.limits);
  }

  /** Open streams of controllers. */
  get streams(): number {
    return this.#service.streams;
  }

  /** Errors so far that were no answers to clients: see `onFault`. */
  get faults(): number {
    return this.#faults;
  }

  /** Clients that were turned away so far. Those beyond a limit of one role are none of them: their stream tells them. */
  get refused(): Readonly<RefusedClients> {
    return { ...this.#refused, streams: this.#service.refusedStreams };
  }

  /** Counts of a device, live; undefined if there is no such device. */
  statistics(deviceId: bigint | number): DeviceStatistics | undefined {
    return this.#devices.get(BigInt(deviceId))?.statistics;
  }

  /** A connection for clients in this process, without a socket. */
  transport(): Transport {
    return createRouterTransport(this.#service.routes);
  }

  /**
   * Opens a port.
   *
   * @returns the host and port that it listens on
   * @throws the system's error, such as EADDRINUSE; TypeError once the server is closed
   */
  async listen({ host = '127.0.0.1', port = 9559, tls }: ListenOptions = {}): Promise<{ host: string; port: number }> {
    if (this.#isClosed) throw new TypeError('the server is closed');
    const options = {
      maxSendHeaderBlockLength: 64 << 20,
      settings: { maxConcurrentStreams: 1000, initialWindowSize: STREAM_WINDOW, enablePush: false },
    };
    const server =
      tls === undefined
        ? createServer(options)
        : createSecureServer({
            ...options,
            key: tls.key as string,
            cert: tls.cert as string,
            minVersion: 'TLSv1.2',
            handshakeTimeout: 10_000,
            ...(tls.clientCa === undefined
              ? {}
              : { ca: tls.clientCa as string, requestCert: true, rejectUnauthorized: true }),
          });
    server.maxConnections = this.limits.connections;
    server.on('request', this.#handle);
    server.on('session', (session) => this.#watch(session));
    // Errors of one connection end that connection, and nothing else.
    server.on('sessionError', () => {});
    server.on('tlsClientError', () => {
      this.#refused.handshakes++;
    });
    server.on('drop', () => {
      this.#refused.connections++;
    });
    server.listen(port, host);
    await once(server, 'listening');
    server.on('error', () => {});
    this.#servers.add(server as Http2Server);
    const address = server.address() as AddressInfo;
    return { host: address.address, port: address.port };
  }

  /** Ends streams, lets requests in flight finish for a moment, and closes all ports. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#service.close();
    const closed = [...this.#servers].map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const session of this.#sessions) if (!session.destroyed) session.close();
    const timer = setTimeout(() => {
      for (const session of this.#sessions) session.destroy();
    }, CLOSE_MS);
    await Promise.all(closed);
    clearTimeout(timer);
    for (const device of this.#devices.values()) device.close();
  }

  /** Ends a connection whose other side is gone: it does not answer pings. */
  #watch(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    session.setLocalWindowSize(CONNECTION_WINDOW);
    session.on('error', () => {});
    let isAlive = true;
    const timer = setInterval(() => {
      if (!isAlive) {
        session.destroy();
        return;
      }
      isAlive = false;
      if (session.destroyed || session.closed) return;
      session.ping((error) => {
        isAlive ||= error === null;
      });
    }, this.limits.pingMs);
    timer.unref();
    session.on('close', () => {
      clearInterval(timer);
      this.#sessions.delete(session);
    });
  }
}
