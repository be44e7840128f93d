// Expressions in conjunctive normal form, from registers: up to eight clauses of up to four conditions. All clauses
// must be true; a clause is true if one of its conditions is.
#ifndef INT_INT_EXPRESSION_P4
#define INT_INT_EXPRESSION_P4

#include "headers.p4"
#include "values.p4"

#define OPERATOR_LESS 0
#define OPERATOR_AT_MOST 1
#define OPERATOR_EQUAL 2
#define OPERATOR_UNEQUAL 3
#define OPERATOR_AT_LEAST 4
#define OPERATOR_MORE 5

#define AGGREGATE_ANY 0
#define AGGREGATE_ALL 1
#define AGGREGATE_SUM 2
#define AGGREGATE_MAX 3
#define AGGREGATE_MIN 4
#define AGGREGATE_LAST 5
#define AGGREGATE_DELTA 6
#define AGGREGATE_COUNT 7

// A hop that has the value, for == and !=.
#define COMPARE_HOP(i) \
    if (values.has_##i == 1 && values.value_##i == constant) { \
        some_equal = 1; \
    }

// Condition `k` of clause `c`: bits 31 to 0 the constant, 39 to 32 the metric, 43 to 40 the operator, 47 to 44 the
// aggregate. A condition on a metric that no hop carries is false, whatever its operator.
#define CONDITION(c, k) \
    if (clauses[4 * c + 3:4 * c] > k && clause == 0) { \
        logic_conditions.read(condition, base + 4 * c + k); \
        evaluate.apply(hdr, condition, count, clause); \
    }

#define CLAUSE(c) \
    if (holds == 1 && clauses[4 * c + 3:4 * c] != 0) { \
        clause = 0; \
        CONDITION(c, 0) \
        CONDITION(c, 1) \
        CONDITION(c, 2) \
        CONDITION(c, 3) \
        holds = clause; \
    }

control IntCondition(in headers_t hdr, in bit<48> condition, in bit<32> count, inout bit<1> clause) {
    int_metric_t values;
    bit<32> constant;
    bit<4> operator;
    bit<4> aggregate;
    bit<32> value;
    bit<1> is_equality;
    bit<1> some_equal;
    bit<1> has_values;

    apply {
        constant = condition[31:0];
        operator = condition[43:40];
        aggregate = condition[47:44];
        is_equality = 0;
        value = count;
        has_values = 0;
        if (aggregate != AGGREGATE_COUNT && condition[39:32] <= METRIC_BUFFER_ID) {
            values = hdr.metrics[condition[35:32]];
            if (values.isValid()) {
                has_values = values.any;
            }
        }
        if (has_values == 1) {
            // For order comparisons the extreme value decides: some hop is below a constant if the smallest value is.
            if (aggregate == AGGREGATE_SUM) {
                value = values.sum;
            } else if (aggregate == AGGREGATE_MAX) {
                value = values.largest;
            } else if (aggregate == AGGREGATE_MIN) {
                value = values.smallest;
            } else if (aggregate == AGGREGATE_LAST) {
                value = values.last;
            } else if (aggregate == AGGREGATE_DELTA) {
                value = values.delta;
            } else {
                value = values.smallest;
                if ((aggregate == AGGREGATE_ANY && operator >= OPERATOR_AT_LEAST)
                    || (aggregate == AGGREGATE_ALL && operator < OPERATOR_EQUAL))
                {
                    value = values.largest;
                }
                if (operator == OPERATOR_EQUAL || operator == OPERATOR_UNEQUAL) {
                    is_equality = 1;
                }
            }
        }
        if (aggregate != AGGREGATE_COUNT && has_values == 0) {
            // False.
        } else if (is_equality == 1) {
            if ((aggregate == AGGREGATE_ANY) == (operator == OPERATOR_UNEQUAL)) {
                // Some hop differs unless all equal the constant; all are equal if none differs.
                if ((values.smallest == constant && values.largest == constant) == (operator == OPERATOR_EQUAL)) {
                    clause = 1;
                }
            } else {
                some_equal = 0;
                COMPARE_HOP(0)
                COMPARE_HOP(1)
                COMPARE_HOP(2)
                COMPARE_HOP(3)
                COMPARE_HOP(4)
                COMPARE_HOP(5)
                COMPARE_HOP(6)
                COMPARE_HOP(7)
                COMPARE_HOP(8)
                if ((some_equal == 1) == (operator == OPERATOR_EQUAL)) {
                    clause = 1;
                }
            }
        } else if (operator == OPERATOR_LESS && value < constant
            || operator == OPERATOR_AT_MOST && value <= constant
            || operator == OPERATOR_EQUAL && value == constant
            || operator == OPERATOR_UNEQUAL && value != constant
            || operator == OPERATOR_AT_LEAST && value >= constant
            || operator == OPERATOR_MORE && value > constant)
        {
            clause = 1;
        }
    }
}

// Replaces a metric's previous sum. All conditions see the same difference.
#define REMEMBER(i) \
    if (history[i:i] == 1 && hdr.metrics[i].isValid() && hdr.metrics[i].any == 1) { \
        hdr.metrics[i].delta = 0; \
        index = (32w##i << 16) + cell; \
        if (seen[i:i] == 1) { \
            complex_previous.read(previous, index); \
            hdr.metrics[i].delta = hdr.metrics[i].sum |-| previous; \
            if (previous > hdr.metrics[i].sum) { \
                hdr.metrics[i].delta = previous - hdr.metrics[i].sum; \
            } \
        } \
        seen[i:i] = 1; \
        complex_previous.write(index, hdr.metrics[i].sum); \
    }

#define CARRIED(i) (named[i:i] == 1 && hdr.metrics[i].isValid() && hdr.metrics[i].any == 1)

// `named` and `history` are the expression's cells of logic_metrics and logic_history; the metrics of both are loaded.
control IntExpression(
    inout headers_t hdr,
    in bit<8> expression,
    in bit<32> named,
    in bit<32> history,
    in bit<32> cell,
    inout bit<1> event)
{
    IntCondition() evaluate;
    bit<32> clauses;
    bit<32> seen;
    bit<32> count;
    bit<32> index;
    bit<32> base;
    bit<32> previous;
    bit<48> condition;
    bit<1> clause;
    bit<1> holds;

    @name(".IntSink.complex_count")
    @id(0x1644fbe5)
    register<bit<32>>(65536) complex_count;
    @name(".IntSink.complex_seen")
    @id(0x16111371)
    register<bit<32>>(65536) complex_seen;
    @name(".IntSink.complex_previous")
    @id(0x16918872)
    register<bit<32>>(786432) complex_previous;
    @name(".IntSink.logic_clauses")
    @id(0x164010e8)
    register<bit<32>>(128) logic_clauses;
    @name(".IntSink.logic_conditions")
    @id(0x16ab01b6)
    register<bit<48>>(4096) logic_conditions;

    apply {
        if (named == 0 || CARRIED(0) || CARRIED(1) || CARRIED(2) || CARRIED(3) || CARRIED(5) || CARRIED(6)
            || CARRIED(7) || CARRIED(8) || CARRIED(9) || CARRIED(10) || CARRIED(11))
        {
            count = 0;
            if (history[31:31] == 1) {
                complex_count.read(count, cell);
                count = count |+| 1;
                complex_count.write(cell, count);
                complex_seen.read(seen, cell);
                REMEMBER(0)
                REMEMBER(1)
                REMEMBER(2)
                REMEMBER(3)
                REMEMBER(5)
                REMEMBER(6)
                REMEMBER(7)
                REMEMBER(8)
                REMEMBER(9)
                REMEMBER(10)
                REMEMBER(11)
                complex_seen.write(cell, seen);
            }
            logic_clauses.read(clauses, (bit<32>)expression);
            base = (bit<32>)expression << 5;
            holds = 1;
            CLAUSE(0)
            CLAUSE(1)
            CLAUSE(2)
            CLAUSE(3)
            CLAUSE(4)
            CLAUSE(5)
            CLAUSE(6)
            CLAUSE(7)
            event = holds;
        }
    }
}

#endif
