/* The shared arithmetic of CUDA plans: occupancy, bytes in flight, waves, launches, traffic of partial results, and the
   tail of a short run. A strategy says what its blocks ask of the chip (RdxDemand); what that takes is decided here
   alone, with one table of constants per device (devices.def).

   time = launch + ramp + max(memory, L2, shared memory, instructions) + finishing
   Only + - * / and sqrt are used, so that every machine plans alike. */
#ifndef RDX_PLAN_COST_H
#define RDX_PLAN_COST_H

#include "layout.h"

typedef struct RdxCostTable {
    const char *name;
    int compute;
    double busy_bytes, unit_bandwidth, latency_us, ramp_us, finish_us, counter_us, item_us, clock, issue_lanes,
        f64_weight, write_weight;
    bool async;
} RdxCostTable;

const RdxCostTable *rdx_cost_table(const RdxDeviceInfo *device);

typedef struct RdxDemand {
    double read, written; /* bytes of memory traffic, partial results not counted */
    double requested;     /* bytes asked of the L2 */
    double instructions;  /* lane-instructions of the whole launch */
    double wavefronts;    /* 128-byte accesses of L1 and shared memory */
    double block_flight;  /* bytes that one block has in flight */
} RdxDemand;

/* Lane-instructions that one element takes: conversion, map, push. And one join of two states. */
double rdx_cost_push(const RdxSituation *situation);
double rdx_cost_join(const RdxSituation *situation);

/* Fills resident, grid, waves and flight_bytes from block, registers, shared_bytes and items. The model's grid is
   persistent where tiles are staged ahead or items are small; else a block is an item, and always where parts are
   counted. */
void rdx_cost_occupy(const RdxSituation *situation, RdxConfig *config, const RdxDemand *demand);

/* Predicted microseconds of an occupied configuration; sets config->bytes. */
double rdx_cost_time(const RdxSituation *situation, RdxConfig *config, const RdxDemand *demand);

#endif
