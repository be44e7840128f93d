import { library } from '../../tsup.config.base.js';

export default library({ collector: 'src/collector.ts' }, { format: ['esm'] });
