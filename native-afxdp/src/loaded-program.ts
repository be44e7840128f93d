import { closed, errnoName, isNativeFailure, toXdpError } from './errors.js';
import { type NativeHandle, native } from './native.js';
import { checkInterfaceName } from './options.js';

/** Where an XDP program runs: in the driver, or in the kernel's generic code behind any driver. */
export type XdpMode = 'driver' | 'generic';

/** The addon's functions for programs, see addon/program_binding.c. */
interface ProgramFunctions {
  programLoad(name: string, sizes: readonly (string | number)[]): NativeHandle;
  programAttach(program: NativeHandle, interfaceName: string, driver: boolean): void;
  programDetach(program: NativeHandle): void;
  programClose(program: NativeHandle): void;
  programMaps(program: NativeHandle): MapShape[];
  programRun(
    program: NativeHandle,
    frame: Uint8Array,
    repeat: number,
    out: Uint8Array,
  ): [action: number, length: number, metaLength: number, nanoseconds: number];
  mapLookup(program: NativeHandle, map: number, key: MapBytes, value: MapBytes): boolean;
  mapRead(program: NativeHandle, map: number, first: number, values: MapBytes): void;
  mapUpdate(program: NativeHandle, map: number, key: MapBytes, value: MapBytes): void;
  mapDelete(program: NativeHandle, map: number, key: MapBytes): boolean;
  mapNextKey(program: NativeHandle, map: number, key: MapBytes | null, next: MapBytes): boolean;
  possibleCpus(): number;
}

interface MapShape {
  readonly name: string;
  readonly keySize: number;
  readonly valueBytes: number;
  readonly fd: number;
}

/** A key or value as its bytes in memory. */
export type MapBytes = Uint8Array | Uint32Array | BigUint64Array;

/** Actions of XDP programs, by number. */
export const XDP_ACTIONS = ['aborted', 'drop', 'pass', 'tx', 'redirect'] as const;
export type XdpAction = (typeof XDP_ACTIONS)[number];

/** What a program did with a frame. */
export interface ProgramRun {
  readonly action: XdpAction;
  /** The frame as the program left it. */
  readonly frame: Uint8Array;
  /** Meta data that the program put before it; empty if there is none, and with kernels before 5.15. */
  readonly meta: Uint8Array;
}

/** Longest frame that a program can be run on: a page, less head and tail room. */
const LONGEST_FRAME = 3520;
const MOST_META = 256;

/** A map of a program, by keys and values as they lie in memory, in the byte order of the host. */
export class ProgramMap {
  /** File descriptor. */
  readonly fd: number;
  readonly keySize: number;
  /** Bytes of a value; with per-CPU maps, of the values of all CPUs one behind the other, each a multiple of 8. */
  readonly valueBytes: number;
  readonly #owner: LoadedProgram;
  readonly #index: number;
  readonly #key: Uint32Array = new Uint32Array(1);

  constructor(owner: LoadedProgram, index: number, { fd, keySize, valueBytes }: MapShape) {
    this.#owner = owner;
    this.#index = index;
    this.fd = fd;
    this.keySize = keySize;
    this.valueBytes = valueBytes;
  }

  /**
   * Reads a value.
   *
   * @param key an array's index, or a key's bytes
   * @param value exactly {@link valueBytes} bytes, written to
   * @returns false if there is no such element
   * @throws XdpError; RangeError for a key or value of another size
   */
  lookup(key: number | MapBytes, value: MapBytes): boolean {
    return this.#owner.call((functions, handle) => functions.mapLookup(handle, this.#index, this.#keyOf(key), value));
  }

  /**
   * Reads the values of an array from index `first` on, one behind the other.
   *
   * @param values a multiple of {@link valueBytes} bytes, written to
   * @throws XdpError if the array ends before; RangeError for another length
   */
  read(first: number, values: MapBytes): void {
    this.#owner.call((functions, handle) => functions.mapRead(handle, this.#index, first, values));
  }

  /** Writes a value. @throws XdpError; RangeError for a key or value of another size */
  update(key: number | MapBytes, value: MapBytes): void {
    this.#owner.call((functions, handle) => functions.mapUpdate(handle, this.#index, this.#keyOf(key), value));
  }

  /** Removes an element of a hash. @returns false if there was none. @throws XdpError */
  delete(key: MapBytes): boolean {
    return this.#owner.call((functions, handle) => functions.mapDelete(handle, this.#index, key));
  }

  /** All keys, as copies. @throws XdpError */
  *keys(): Generator<Uint8Array> {
    let last: Uint8Array | null = null;
    for (;;) {
      const next = new Uint8Array(this.keySize);
      const before: Uint8Array | null = last;
      const isThere = this.#owner.call((functions, handle) => functions.mapNextKey(handle, this.#index, before, next));
      if (!isThere) return;
      yield next;
      last = next;
    }
  }

  /** The value of a per-CPU array's element, its 64-bit words added up over all CPUs. @throws XdpError */
  sum(key: number): BigUint64Array {
    const cpus = possibleCpus();
    const all = new BigUint64Array(this.valueBytes / 8);
    this.lookup(key, all);
    const size = all.length / cpus;
    const total = all.slice(0, size);
    for (let k = size; k < all.length; k++) total[k % size] = BigInt.asUintN(64, total[k % size]! + all[k]!);
    return total;
  }

  #keyOf(key: number | MapBytes): MapBytes {
    if (typeof key !== 'number') return key;
    this.#key[0] = key;
    return this.#key;
  }
}

/** CPUs that this machine can have. @throws XdpError ERR_XDP_PLATFORM, ERR_XDP_NOT_BUILT */
export function possibleCpus(): number {
  return native<ProgramFunctions>().possibleCpus();
}

/** An XDP program in the kernel, with its maps. It goes when it is closed, at the latest with the process. */
export class LoadedProgram {
  readonly name: string;
  /** Where it is attached; null: nowhere. */
  attached: { readonly interface: string; readonly mode: XdpMode } | null = null;
  readonly #handle: NativeHandle;
  readonly #functions: ProgramFunctions;
  readonly #maps: ReadonlyMap<string, ProgramMap>;
  #isClosed = false;

  /**
   * Creates the maps and loads the program.
   *
   * @param name one of `steer`, `prefilter_array`, `prefilter_hash`
   * @param sizes entries of maps, by name, where they differ from those that the program itself names
   * @throws XdpError
   */
  constructor(name: string, sizes: Readonly<Record<string, number>> = {}) {
    this.name = name;
    this.#functions = native<ProgramFunctions>();
    try {
      this.#handle = this.#functions.programLoad(name, Object.entries(sizes).flat());
    } catch (failure) {
      throw toXdpError(failure);
    }
    const shapes = this.call((functions, handle) => functions.programMaps(handle));
    this.#maps = new Map(shapes.map((shape, index) => [shape.name, new ProgramMap(this, index, shape)]));
  }

  /** @throws RangeError if the program has no such map */
  map(name: string): ProgramMap {
    const map = this.#maps.get(name);
    if (map === undefined) throw new RangeError(`the program ${this.name} has no map ${name}`);
    return map;
  }

  /**
   * Attaches the program to an interface, for as long as it is open.
   *
   * @param mode `auto`: in the driver if that can be, else generic
   * @returns the mode
   * @throws XdpError ERR_XDP_NO_DEVICE, ERR_XDP_BUSY, ERR_XDP_PERMISSION, ERR_XDP_NO_DRIVER_SUPPORT, ERR_XDP_MTU,
   *   ERR_XDP_CLOSED, ERR_XDP_SYSTEM
   */
  attach(interfaceName: string, mode: 'auto' | XdpMode = 'auto'): XdpMode {
    if (this.#isClosed) throw closed('the program');
    checkInterfaceName(interfaceName);
    const attach = (chosen: XdpMode): XdpMode => {
      this.#functions.programAttach(this.#handle, interfaceName, chosen === 'driver');
      this.attached = { interface: interfaceName, mode: chosen };
      return chosen;
    };
    try {
      if (mode !== 'auto') return attach(mode);
      try {
        return attach('driver');
      } catch (failure) {
        if (!isNativeFailure(failure) || !GENERIC_MAY_DO.includes(errnoName(failure.errno))) throw failure;
        return attach('generic');
      }
    } catch (failure) {
      throw toXdpError(failure, {
        interface: interfaceName,
        ...(mode === 'driver' ? { insists: 'XDP in the driver' } : {}),
      });
    }
  }

  /**
   * Runs the program on a frame without an interface (BPF_PROG_TEST_RUN); as if received by queue 0.
   *
   * @param frame 14 to 3520 bytes
   * @throws XdpError; RangeError for a frame of another length
   */
  run(frame: Uint8Array): ProgramRun {
    if (frame.length < 14 || frame.length > LONGEST_FRAME) {
      throw new RangeError(`a frame of 14 to ${LONGEST_FRAME} bytes is needed, not ${frame.length}`);
    }
    const out = new Uint8Array(frame.length + MOST_META);
    const [action, length, metaLength] = this.call((functions, handle) => functions.programRun(handle, frame, 1, out));
    const name = XDP_ACTIONS[action] ?? 'aborted';
    return { action: name, frame: out.subarray(metaLength, length), meta: out.subarray(0, metaLength) };
  }

  /** Detaches the program, which stays loaded with its maps; again: nothing. @throws XdpError ERR_XDP_CLOSED */
  detach(): void {
    this.call((functions, handle) => functions.programDetach(handle));
    this.attached = null;
  }

  /** Detaches the program and frees its maps; again: nothing. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.attached = null;
    this.#functions.programClose(this.#handle);
  }

  /** Calls the addon. @throws XdpError; TypeError or RangeError for arguments that do not fit */
  call<Result>(use: (functions: ProgramFunctions, handle: NativeHandle) => Result): Result {
    if (this.#isClosed) throw closed('the program');
    try {
      return use(this.#functions, this.#handle);
    } catch (failure) {
      throw toXdpError(failure);
    }
  }
}

/** Errors of attaching to a driver behind which the generic mode may work: no XDP in the driver, the MTU, queues. */
const GENERIC_MAY_DO: readonly string[] = ['EOPNOTSUPP', 'ENOTSUPP', 'ERANGE', 'EINVAL'];
