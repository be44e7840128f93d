import { library } from '../../tsup.config.base.js';

export default library({ fabric: 'src/fabric.ts' }, { format: ['esm'], dts: false });
