/** A collector's way to the broker, which can be cut. */
export interface Way {
  /** Where the broker listens for this way: an address of this machine. */
  readonly listenAddress: string;
  /** The port that clients are told instead of the broker's own; null: that one. */
  readonly advertisedPort: number | null;
  /** Where the collector at its end can be sent reports. */
  readonly reportsAddress: string;

  /** The way leads to this port of the broker. @returns `host:port` for the collector */
  leadTo(port: number): string;

  /** The command that has a program run at the end of the way. */
  at(program: readonly string[]): readonly string[];
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}
