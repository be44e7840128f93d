/**
 * The parts of a switch that the control plane configures beside tables and extern objects: packet replication and
 * queues. The command language and the API use it.
 */
export interface ReplicationTarget {
  /**
   * Sends clones of a session to a port, or with `group` to a multicast group; `maxBytes` is their largest length in
   * bytes (0: no limit).
   * @throws ControlError `ERR_CONTROL_BAD_SESSION` for a number that no session can have
   */
  setMirror(
    session: number,
    destination: { readonly port?: number; readonly group?: number; readonly maxBytes?: number },
  ): void;
  /** Returns false if there was none. */
  deleteMirror(session: number): boolean;
  mirror(session: number): { readonly port?: number; readonly group?: number; readonly maxBytes?: number } | undefined;
  /**
   * Makes a multicast group. As in simple_switch_CLI, groups and nodes (replication id, ports) are made separately,
   * then associated.
   */
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
  /** Whether a multicast group or node exists: the reason of a failed association. */
  hasGroup?(group: number): boolean;
  hasNode?(handle: number): boolean;
  /** Ports of a link aggregation group. */
  setLagMembership?(lag: number, ports: readonly number[]): void;
  /** Removes all multicast groups and nodes, as `reset_state` does. */
  resetMulticast?(): void;
  /** Groups in ascending order, each with its nodes in the order of their association. */
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
