import type { Value } from '@int/p4runtime';

/** Written by `int p4 info --types` from P4Info: for `P4RuntimeClient<Everything>`. */
export type Everything = {
  tables: {
    'I.stations': {
      match: {
        /** 48 bits */ 'hdr.frame.dst': 'exact';
      };
      short: {
        dst: 'hdr.frame.dst';
      };
      actions: 'I.forward' | 'I.rewrite' | 'I.drop' | 'I.to_cpu' | 'I.flood' | 'I.only_entry' | 'NoAction';
      defaults: 'I.forward' | 'I.rewrite' | 'I.drop' | 'I.to_cpu' | 'I.flood' | 'I.only_default' | 'NoAction';
      profile: 'none';
    };
    'I.routes': {
      match: {
        /** 32 bits */ 'hdr.body.large': 'lpm';
      };
      short: {
        large: 'hdr.body.large';
      };
      actions: 'I.forward' | 'I.drop' | 'NoAction';
      defaults: 'I.forward' | 'I.drop' | 'NoAction';
      profile: 'none';
    };
    'I.rules': {
      match: {
        /** 8 bits */ 'hdr.body.opcode': 'exact';
        /** 16 bits */ 'hdr.body.medium': 'ternary';
        /** 8 bits */ 'hdr.body.small': 'range';
        /** 128 bits */ 'hdr.body.huge': 'optional';
        /** 32 bits */ 'hdr.body.large': 'lpm';
      };
      short: {
        opcode: 'hdr.body.opcode';
        medium: 'hdr.body.medium';
        small: 'hdr.body.small';
        huge: 'hdr.body.huge';
        large: 'hdr.body.large';
      };
      actions: 'I.forward' | 'I.drop' | 'I.learn' | 'I.copy' | 'I.to_cpu' | 'NoAction';
      defaults: 'I.forward' | 'I.drop' | 'I.learn' | 'I.copy' | 'I.to_cpu' | 'NoAction';
      profile: 'none';
    };
    'I.fixed': {
      match: {
        /** 8 bits */ 'hdr.body.opcode': 'ternary';
      };
      short: {
        opcode: 'hdr.body.opcode';
      };
      actions: 'I.drop' | 'I.forward' | 'NoAction';
      defaults: 'I.drop' | 'I.forward' | 'NoAction';
      profile: 'none';
    };
    'I.initial': {
      match: {
        /** 8 bits */ 'hdr.body.small': 'exact';
      };
      short: {
        small: 'hdr.body.small';
      };
      actions: 'I.drop' | 'I.forward' | 'NoAction';
      defaults: 'I.drop' | 'I.forward' | 'NoAction';
      profile: 'none';
    };
    'I.indirect': {
      match: {
        /** 16 bits */ 'hdr.body.medium': 'exact';
      };
      short: {
        medium: 'hdr.body.medium';
      };
      actions: 'I.forward' | 'I.drop' | 'NoAction';
      defaults: 'I.forward' | 'I.drop' | 'NoAction';
      profile: 'members';
    };
    'I.balanced': {
      match: {
        /** 32 bits */ 'hdr.body.large': 'exact';
      };
      short: {
        large: 'hdr.body.large';
      };
      actions: 'I.forward' | 'I.drop' | 'NoAction';
      defaults: 'I.forward' | 'I.drop' | 'NoAction';
      profile: 'groups';
    };
    'I.keyless': {
      match: Record<never, never>;
      short: Record<never, never>;
      actions: 'I.forward' | 'NoAction';
      defaults: 'I.forward' | 'NoAction';
      profile: 'none';
    };
  };
  actions: {
    'I.drop': Record<never, never>;
    'I.forward': {
      /** 9 bits */ port: Value;
    };
    'I.rewrite': {
      /** 9 bits */ port: Value;
      /** 48 bits */ dst: Value;
      /** 128 bits */ huge: Value;
    };
    'I.to_cpu': {
      /** 7 bits */ reason: Value;
    };
    'I.flood': {
      /** 16 bits */ group: Value;
    };
    'I.copy': {
      /** 32 bits */ session: Value;
    };
    'I.learn': Record<never, never>;
    'I.only_default': Record<never, never>;
    'I.only_entry': Record<never, never>;
    NoAction: Record<never, never>;
  };
  profiles: {
    'I.members': 'I.forward' | 'I.drop' | 'NoAction';
    'I.selector': 'I.forward' | 'I.drop' | 'NoAction';
  };
  counters: 'I.ports';
  meters: 'I.rates';
  registers: {
    /** 16 cells */ 'I.cells': Value;
    /** 8 cells */ 'I.signed_cells': Value;
    /** 4 cells */ 'I.flags': boolean;
  };
  valueSets: {
    'P.types': {
      /** 16 bits */ '': 'exact';
    };
  };
  digests: {
    learned_t: { readonly station: bigint; readonly port: bigint; readonly type: bigint };
  };
  packetIn: {
    /** 9 bits */ ingress_port: bigint;
    /** 7 bits */ reason: bigint;
  };
  packetOut: {
    /** 9 bits */ egress_port: Value;
    /** 6 bits */ padding: Value;
    /** 1 bit */ is_direct: Value;
  };
  short: {
    stations: 'I.stations';
    routes: 'I.routes';
    rules: 'I.rules';
    fixed: 'I.fixed';
    initial: 'I.initial';
    indirect: 'I.indirect';
    balanced: 'I.balanced';
    keyless: 'I.keyless';
    drop: 'I.drop';
    forward: 'I.forward';
    rewrite: 'I.rewrite';
    to_cpu: 'I.to_cpu';
    flood: 'I.flood';
    copy: 'I.copy';
    learn: 'I.learn';
    only_default: 'I.only_default';
    only_entry: 'I.only_entry';
    members: 'I.members';
    selector: 'I.selector';
    ports: 'I.ports';
    rates: 'I.rates';
    cells: 'I.cells';
    signed_cells: 'I.signed_cells';
    flags: 'I.flags';
    types: 'P.types';
  };
};
