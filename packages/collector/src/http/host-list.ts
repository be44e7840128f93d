import { hostname } from 'node:os';

/** A name, an IPv4 address or an IPv6 address in brackets, with an optional port. */
const AUTHORITY = /^(?:\[[0-9a-fA-F:.]+\]|[^:[\]@/\\?#\s]+)(?::\d{1,5})?$/;
/** The unspecified addresses: no client asks for them. */
const ANY: ReadonlySet<string> = /* @__PURE__ */ new Set(['0.0.0.0', '[::]']);
const LOCAL: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The names and addresses that requests to a server may use: the defence against DNS rebinding. An attacker points a
 * name of its own at a server of the inner network. The attacker's page may then read the server's answers. The `Host`
 * header holds the attacker's name, so the server can refuse it.
 */
export class HostList {
  readonly #hosts: ReadonlySet<string>;

  /**
   * Allows the address listened on, localhost and the machine's host name.
   * @param listen host that the server listens on, without brackets
   * @param more further names or addresses
   * @throws RangeError for one that is neither a name nor an address
   */
  constructor(listen: string, more: readonly string[] = []) {
    const named = more.map((host) => {
      const name = nameOf(bracketed(host));
      if (name === null) throw new RangeError(`'${host}' is neither a host's name nor an address`);
      return name;
    });
    const own = [bracketed(listen), hostname()]
      .map(nameOf)
      .filter((name) => name !== null && !ANY.has(name)) as string[];
    this.#hosts = new Set([...LOCAL, ...own, ...named]);
  }

  /**
   * @param authority value of a `Host` header: `name`, `name:port`, `[IPv6]:port`
   * @param localAddress local address of the connection; always allowed, because an address cannot be rebound
   */
  allows(authority: string | undefined, localAddress: string | undefined): boolean {
    if (authority === undefined) return false;
    const name = nameOf(authority);
    if (name === null) return false;
    return this.#hosts.has(name) || name === nameOf(bracketed(localAddress ?? ''));
  }
}

/** The host of an authority as browsers write it: lower case, one form for each address, without a dot at the end. */
function nameOf(authority: string): string | null {
  if (!AUTHORITY.test(authority)) return null;
  try {
    return new URL(`http://${authority}`).hostname.replace(/\.$/, '');
  } catch {
    return null;
  }
}

/** An IPv6 address as in a URL. An IPv4-mapped address becomes its IPv4 address. */
function bracketed(host: string): string {
  const plain = host.replace(/^::ffff:(?=\d+\.)/i, '');
  return plain.includes(':') && !plain.startsWith('[') ? `[${plain}]` : plain;
}
