import { hostname } from 'node:os';

/** A name, an IPv4 address or an IPv6 address in brackets, and perhaps a port. */
const AUTHORITY = /^(?:\[[0-9a-fA-F:.]+\]|[^:[\]@/\\?#\s]+)(?::\d{1,5})?$/;
/** Addresses that stand for all of the machine's: nobody asks for them. */
const ANY: ReadonlySet<string> = /* @__PURE__ */ new Set(['0.0.0.0', '[::]']);
const LOCAL: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The names and addresses by which a server may be asked. A page of a stranger can have a browser ask a server of the inner
 * network under a name that the stranger owns, by letting it point there (DNS rebinding): the browser then lets the page
 * read the answer. The `Host` header has that name.
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
   * @param localAddress address that the connection came to: always allowed, as no name points there
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

/** An IPv6 address as it stands in a URL; one that stands for an IPv4 address, as that. */
function bracketed(host: string): string {
  const plain = host.replace(/^::ffff:(?=\d+\.)/i, '');
  return plain.includes(':') && !plain.startsWith('[') ? `[${plain}]` : plain;
}
