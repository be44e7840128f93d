/**
 * What a switch gives its control plane beside tables and extern objects: packet replication and queues. The command
 * language and the API act on this.
 */
export interface ReplicationTarget {
  /**
   * Sends clones of a session to a port, or with `group` to a multicast group; `maxBytes` cuts them (0: not).
   * @throws ControlError `ERR_CONTROL_BAD_SESSION` for a number that no session can have
   */
  setMirror(
    session: number,
    destination: { readonly port?: number; readonly group?: number; readonly maxBytes?: number },
  ): void;
  /** False if there was none. */
  deleteMirror(session: number): boolean;
  mirror(session: number): { readonly port?: number; readonly group?: number; readonly maxBytes?: number } | undefined;
  /** Multicast, in the terms of simple_switch_CLI: groups and nodes (replication id, ports) are made apart and associated. */
  createGroup(group: number): boolean;
  destroyGroup(group: number): boolean;
  /** Returns the node's handle. */
  createNode(replicationId: number, ports: readonly number[], lags?: readonly number[]): number;
  updateNode(handle: number, ports: readonly number[], lags?: readonly number[]): boolean;
  destroyNode(handle: number): boolean;
  associateNode(group: number, handle: number): boolean;
  dissociateNode(group: number, handle: number): boolean;
  setQueueDepth(packets: number, port?: number, priority?: number): void;
  /** Packets per second. */
  setQueueRate(rate: number, port?: number, priority?: number): void;
  /** Whether there is such a multicast group or node: tells why an association failed. */
  hasGroup?(group: number): boolean;
  hasNode?(handle: number): boolean;
  /** Ports of a link aggregation group. */
  setLagMembership?(lag: number, ports: readonly number[]): void;
  /** Removes all multicast groups and nodes, as `reset_state` does. */
  resetMulticast?(): void;
  /** Groups with their nodes, for showing them: both ascending by number, nodes in the order they were associated. */
  multicastGroups?(): readonly {
    readonly group: number;
    readonly nodes: readonly {
      readonly handle: number;
      readonly replicationId: number;
      readonly ports: readonly number[];
      readonly lags: readonly number[];
    }[];
  }[];
}
