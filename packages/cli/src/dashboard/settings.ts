/** The dashboard's options of a command line, and `dashboard` of int.yaml. */
import { isIPv6 } from 'node:net';
import { InvalidArgumentError, Option } from 'commander';
import type { DashboardConfig } from '../config/config.js';
import { bytesOf, millisecondsOf } from '../config/quantities.js';
import { given, ifGiven } from '../given.js';

/** What a dashboard is opened with. Files are read when it opens. */
export interface DashboardSettings {
  readonly host: string;
  readonly port: number;
  /** Whether somebody chose the port. Otherwise the next free one will do. */
  readonly isPortChosen: boolean;
  readonly tokenFile?: string;
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly allowHosts?: readonly string[];
  readonly readOnly?: boolean;
  /** Paths of capture files that may be replayed. */
  readonly captures?: readonly string[];
  readonly retention?: { readonly seconds?: number; readonly memoryBytes?: number; readonly flows?: number };
}

/** Values of the options. */
export interface DashboardFlags {
  readonly dashboard?: DashboardAddress | true;
  readonly dashboardTokenFile?: string;
  readonly dashboardTlsCert?: string;
  readonly dashboardTlsKey?: string;
  readonly dashboardAllowHost?: readonly string[];
  readonly dashboardReadOnly?: true;
}

export interface DashboardAddress {
  readonly host: string;
  /** `null`: the usual one. */
  readonly port: number | null;
}

const HOST = '127.0.0.1';
const PORT = 8800;

/** An option parser for `HOST:PORT`, a host alone, `[IPv6]:PORT`, or a port alone. */
function dashboardAddress(text: string): DashboardAddress {
  if (/^\d+$/.test(text)) return { host: HOST, port: portOf(text) };
  const match = /^(?:\[([^\]]+)\]|([^:[\]\s/]+))(?::(\d+))?$/.exec(text);
  const [, bracketed, plain, port] = match ?? [];
  if (match === null || (bracketed !== undefined && !isIPv6(bracketed))) {
    throw new InvalidArgumentError('Give HOST:PORT, such as 127.0.0.1:8800 (an IPv6 host in brackets).');
  }
  return { host: bracketed ?? plain!, port: port === undefined ? null : portOf(port) };
}

function portOf(text: string): number {
  const port = Number(text);
  if (port > 65_535) throw new InvalidArgumentError(`a port is a number from 0 to 65535, not ${text}.`);
  return port;
}

export function dashboardOptions(): Option[] {
  const allowHost = (name: string, previous: readonly string[] = []): string[] => [...previous, name];
  return [
    new Option('--dashboard [HOST:PORT]', 'a page that shows the network, at this address (127.0.0.1:8800)').argParser(
      dashboardAddress,
    ),
    new Option(
      '--dashboard-token-file <FILE>',
      'with --dashboard: the token that who looks must have; needed on other addresses than loopback',
    ),
    new Option('--dashboard-tls-cert <FILE>', 'with --dashboard: certificate chain, PEM: serve by TLS'),
    new Option('--dashboard-tls-key <FILE>', 'with --dashboard-tls-cert: its private key, PEM'),
    new Option(
      '--dashboard-allow-host <NAME>',
      'with --dashboard: a further name by which the page may be asked for, such as that of a proxy; repeat for more',
    ).argParser(allowHost),
    new Option('--dashboard-read-only', 'with --dashboard: refuse everything that changes something'),
  ];
}

/** What is wrong with the options together; `null`: nothing. */
export function dashboardProblem(flags: DashboardFlags): string | null {
  const { dashboard, dashboardTlsCert: cert, dashboardTlsKey: key } = flags;
  const others = {
    '--dashboard-token-file': flags.dashboardTokenFile,
    '--dashboard-tls-cert': cert,
    '--dashboard-tls-key': key,
    '--dashboard-allow-host': flags.dashboardAllowHost,
    '--dashboard-read-only': flags.dashboardReadOnly,
  };
  const alone = Object.entries(others).find(([, value]) => value !== undefined)?.[0];
  if (dashboard === undefined) return alone === undefined ? null : `${alone} goes with --dashboard`;
  return (cert === undefined) === (key === undefined)
    ? null
    : '--dashboard-tls-cert and --dashboard-tls-key go together';
}

/** The settings of options; `null`: no dashboard is asked for. */
export function settingsOfFlags(flags: DashboardFlags): DashboardSettings | null {
  const { dashboard, dashboardTlsCert: cert, dashboardTlsKey: key } = flags;
  if (dashboard === undefined) return null;
  return {
    ...addressOf(dashboard === true ? { host: HOST, port: null } : dashboard),
    ...given({
      tokenFile: flags.dashboardTokenFile,
      tls: cert === undefined || key === undefined ? undefined : { cert, key },
      allowHosts: flags.dashboardAllowHost,
      readOnly: flags.dashboardReadOnly,
    }),
  };
}

/** @param path resolves a path of the configuration */
export function settingsOfConfig(config: DashboardConfig, path: (relative: string) => string): DashboardSettings {
  const { listen, tokenFile, tls, allowHosts, readOnly, captures, retain = {} } = config;
  const seconds = ifGiven(retain.time, (time) => Math.max(1, Math.round(millisecondsOf(time) / 1000)));
  return {
    ...addressOf(listen === undefined ? { host: HOST, port: null } : dashboardAddress(listen)),
    ...given({
      tokenFile: ifGiven(tokenFile, path),
      tls: ifGiven(tls, ({ cert, key }) => ({ cert: path(cert), key: path(key) })),
      allowHosts,
      readOnly,
      captures: ifGiven(captures, (files) => files.map(path)),
    }),
    retention: given({ seconds, memoryBytes: ifGiven(retain.memory, bytesOf), flows: retain.flows }),
  };
}

const addressOf = ({ host, port }: DashboardAddress): Pick<DashboardSettings, 'host' | 'port' | 'isPortChosen'> => ({
  host,
  port: port ?? PORT,
  isPortChosen: port !== null,
});
