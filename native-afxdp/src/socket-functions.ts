import type { NativeHandle } from './native.js';

/** The addon's functions for sockets, see addon/socket_binding.c. */
export interface SocketFunctions {
  socketOpen(
    ifindex: number,
    queue: number,
    frames: number,
    txFrames: number,
    frameSize: number,
    copies: number,
    memory: Uint8Array | null,
  ): { handle: NativeHandle; buffer: ArrayBuffer | null };
  socketBind(socket: NativeHandle): boolean;
  socketPromiscuous(socket: NativeHandle): void;
  socketRegister(socket: NativeHandle, map: number): void;
  socketClose(socket: NativeHandle): void;
  socketError(socket: NativeHandle): number;
  socketStats(socket: NativeHandle, numbers: Float64Array): void;
  receive(socket: NativeHandle, batch: NativeHandle, most: number): number;
  release(socket: NativeHandle, batch: NativeHandle, count: number): number;
  acquire(socket: NativeHandle, batch: NativeHandle, count: number): number;
  discard(socket: NativeHandle, batch: NativeHandle, end: number, start: number): number;
  transmit(socket: NativeHandle, batch: NativeHandle, count: number): number;
  pending(socket: NativeHandle): number;
  readable(socket: NativeHandle): boolean;
  waitSync(socket: NativeHandle, timeoutMs: number): number;
  waitStart(socket: NativeHandle, timeoutMs: number, callback: (result: number) => void): void;
  waitCancel(socket: NativeHandle): void;
  interfaceIndex(name: string): number;
  interfaceExists(index: number): boolean;
  interfaceQueues(name: string): number;
}
