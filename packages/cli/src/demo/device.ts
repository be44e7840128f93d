import { DeviceProfile } from '@int/network';

/** What the generated fabric counts: nanoseconds, cells of 80 bytes, hundredths of a percent. */
export const DEMO_DEVICE = new DeviceProfile({
  units: {
    hopLatency: 'ns',
    timestamps: 'ns',
    queueOccupancy: { cell: '80B' },
    bufferOccupancy: { cell: '80B' },
    egressUtilization: '0.01%',
  },
});
