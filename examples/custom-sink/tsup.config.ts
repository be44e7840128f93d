import { library } from '../../tsup.config.base.js';

export default library({ 'custom-sink': 'src/custom-sink.ts' }, { format: ['esm'] });
