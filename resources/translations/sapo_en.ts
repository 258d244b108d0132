<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name></name>
    <message numerus="yes">
        <source>swarm {value} ({low} to {high}), measured on %n peer(s)</source>
        <translation>
            <numerusform>swarm {value} ({low} to {high}), measured on %n peer</numerusform>
            <numerusform>swarm {value} ({low} to {high}), measured on %n peers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %n earlier</source>
        <translation>
            <numerusform>and %n earlier</numerusform>
            <numerusform>and %n earlier</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n own answers were wrong. In round {peer_round} a peer&apos;s answer was learned from; in round {round} an own one was right.</source>
        <translation>
            <numerusform>%n own answer was wrong. In round {peer_round} a peer&apos;s answer was learned from; in round {round} an own one was right.</numerusform>
            <numerusform>%n own answers were wrong. In round {peer_round} a peer&apos;s answer was learned from; in round {round} an own one was right.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>mean of the last %n round(s)</source>
        <translation>
            <numerusform>mean of the last round</numerusform>
            <numerusform>mean of the last %n rounds</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{low} to {high}, measured on %n peer(s)</source>
        <translation>
            <numerusform>{low} to {high}, measured on %n peer</numerusform>
            <numerusform>{low} to {high}, measured on %n peers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>my reward, mean of %n rounds</source>
        <translation>
            <numerusform>my reward, mean of %n round</numerusform>
            <numerusform>my reward, mean of %n rounds</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This computer has %n core(s). All of this can be changed at any time.</source>
        <translation>
            <numerusform>This computer has %n core. All of this can be changed at any time.</numerusform>
            <numerusform>This computer has %n cores. All of this can be changed at any time.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Training round {round}, %n peer(s)</source>
        <translation>
            <numerusform>Training round {round}, %n peer</numerusform>
            <numerusform>Training round {round}, %n peers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Paused while you use the computer, until %n minute(s) without keyboard and mouse</source>
        <translation>
            <numerusform>Paused while you use the computer, until %n minute without keyboard and mouse</numerusform>
            <numerusform>Paused while you use the computer, until %n minutes without keyboard and mouse</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Stopped after %n failure(s) in a row: {reason}</source>
        <translation>
            <numerusform>Stopped after %n failure: {reason}</numerusform>
            <numerusform>Stopped after %n failures in a row: {reason}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Linked to %n peer(s)</source>
        <translation>
            <numerusform>Linked to %n peer</numerusform>
            <numerusform>Linked to %n peers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The model answered beside you: {right} of %n right.</source>
        <translation>
            <numerusform>The model answered beside you: {right} of %n right.</numerusform>
            <numerusform>The model answered beside you: {right} of %n right.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n answer(s), newest first</source>
        <translation>
            <numerusform>%n answer, newest first</numerusform>
            <numerusform>%n answers, newest first</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{share} of %n</source>
        <translation>
            <numerusform>{share} of %n</numerusform>
            <numerusform>{share} of %n</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Mean of the last %n round(s)</source>
        <translation>
            <numerusform>Mean of the last round</numerusform>
            <numerusform>Mean of the last %n rounds</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>of own answers, at the limit of %n token(s)</source>
        <translation>
            <numerusform>of own answers, at the limit of %n token</numerusform>
            <numerusform>of own answers, at the limit of %n tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n notice(s)</source>
        <translation>
            <numerusform>%n notice</numerusform>
            <numerusform>%n notices</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n notice(s) copied.</source>
        <translation>
            <numerusform>%n notice copied.</numerusform>
            <numerusform>%n notices copied.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n of this node&apos;s groups used</source>
        <translation>
            <numerusform>%n of this node&apos;s groups used</numerusform>
            <numerusform>%n of this node&apos;s groups used</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>It leads to the private swarm {key}, by %n address(es).</source>
        <translation>
            <numerusform>It leads to the private swarm {key}, by %n address.</numerusform>
            <numerusform>It leads to the private swarm {key}, by %n addresses.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n setting(s)</source>
        <translation>
            <numerusform>%n setting</numerusform>
            <numerusform>%n settings</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Writing, %n token(s)</source>
        <translation>
            <numerusform>Writing, %n token</numerusform>
            <numerusform>Writing, %n tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Solved {score} of %n questions ({low} to {high}), in {span}.</source>
        <translation>
            <numerusform>Solved {score} of %n question ({low} to {high}), in {span}.</numerusform>
            <numerusform>Solved {score} of %n questions ({low} to {high}), in {span}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) written to {folder}: {files}</source>
        <translation>
            <numerusform>%n file written to {folder}: {files}</numerusform>
            <numerusform>%n files written to {folder}: {files}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n character(s)</source>
        <translation>
            <numerusform>%n character</numerusform>
            <numerusform>%n characters</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Answer, %n character(s)</source>
        <translation>
            <numerusform>Answer, %n character</numerusform>
            <numerusform>Answer, %n characters</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{energy}; it brought {points} points of the held-out score, and peers %n group(s)</source>
        <translation>
            <numerusform>{energy}; it brought {points} points of the held-out score, and peers %n group</numerusform>
            <numerusform>{energy}; it brought {points} points of the held-out score, and peers %n groups</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>by their own word: %n group(s) used</source>
        <translation>
            <numerusform>by their own word: %n group used</numerusform>
            <numerusform>by their own word: %n groups used</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n computer(s)</source>
        <translation>
            <numerusform>%n computer</numerusform>
            <numerusform>%n computers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{way}, on %n thread(s).</source>
        <translation>
            <numerusform>{way}, on %n thread.</numerusform>
            <numerusform>{way}, on %n threads.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n question(s)</source>
        <translation>
            <numerusform>%n question</numerusform>
            <numerusform>%n questions</numerusform>
        </translation>
    </message>
</context>
</TS>
